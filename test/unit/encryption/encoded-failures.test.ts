import { createRequire } from 'node:module';
import { ApplicationFailure, defaultPayloadConverter } from '@temporalio/common';
import type { DefaultFailureConverter } from '@temporalio/common';
import { messageOfFailure } from '../../../client/server-calls.ts';
import { createEncryptingCodec } from '../../../encryption/encrypting-codec.ts';
import { encodedFailures } from '../../../worker/bundle-workflows.ts';
import { testKeys } from '../../support/test-keys.ts';

const { failureConverter }: { readonly failureConverter: DefaultFailureConverter } = createRequire(
  import.meta.url,
)(encodedFailures);
const codec = createEncryptingCodec(testKeys('k1'), 'default');

it('messages and stacks of a failure and its causes are in payloads, and a client reads them with the key', async () => {
  const cause = new Error('the tower of the town');
  const error = ApplicationFailure.create({ message: 'about the tower', type: 'Model', cause });
  const failure = failureConverter.errorToFailure(error, defaultPayloadConverter);
  const { encodedAttributes, cause: inner, ...plain } = failure;
  expect(JSON.stringify(plain)).not.toMatch(/tower|town/);
  expect(inner).toMatchObject({ message: 'Encoded failure', stackTrace: '' });
  expect(plain).toMatchObject({ applicationFailureInfo: { type: 'Model' } });
  if (!encodedAttributes) throw new Error('nothing was encoded');
  const [sealed] = await codec.encode([encodedAttributes]);
  const sent = { message: plain.message ?? null, encodedAttributes: sealed ?? null };
  expect(await messageOfFailure(codec, sent)).toBe('about the tower');
  const other = createEncryptingCodec(testKeys('k2'), 'default');
  expect(await messageOfFailure(other, sent)).toMatch(/^\(encrypted\) .*the key "k1"/);
  expect(await messageOfFailure(other, { message: 'a timeout' })).toBe('a timeout');
  expect(await messageOfFailure(other, {})).toBeNull();
});
