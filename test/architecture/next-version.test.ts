import { nextVersion, otherText, replaceOnce } from '../slow/deploys/changed-checkout.ts';
import { read } from './repository.ts';

// Slow tests deploy another version of this checkout: a text that has changed since is found here, in seconds.
it.each([...nextVersion, otherText])(
  '$file holds once the text that the next version changes: $from',
  ({ file, from, to }) => {
    const text = read(file);
    expect(replaceOnce(text, from, to)).not.toBe(text);
  },
);
