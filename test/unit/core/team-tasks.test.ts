import * as fc from 'fast-check';
import { findMentions, mentionsMax, hashTask } from '../../../core/team/draft-calls.ts';
import { property } from './builders.ts';

describe('the hash of a task', () => {
  const plain = hashTask('List three ways to store sensor data');

  it.each([
    'list THREE ways to store sensor data',
    '  List three\n\n ways to\tstore sensor data. ',
    '"List three ways to store sensor data!"…',
    'List three ways to store sensor data',
    'List ｔｈｒｅｅ ways to store sensor data',
  ])('HT1: is the same for %j', (task) => {
    expect(hashTask(task)).toBe(plain);
  });

  it.each([
    'List four ways to store sensor data',
    'List three, ways to store sensor data',
    'Listthree ways to store sensor data',
    '',
  ])('HT1: is another for %j', (task) => {
    expect(hashTask(task)).not.toBe(plain);
  });

  it('HT1: a task of punctuation alone has a hash of its own', () => {
    expect(hashTask('???')).not.toBe(hashTask('!!!'));
    expect(hashTask(' ??? ')).toBe(hashTask('???'));
  });

  it('HT1: however a task is spelled, and it takes no time however it is made', () => {
    const word = fc.stringMatching(/^[a-zà-ü0-9]{1,8}$/);
    const space = fc.constantFrom(' ', '\n', ' \t ', '\u00a0');
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), space, fc.boolean(), (words, gap, isLoud) => {
        const spelled = `${gap}¿${words.join(gap)}?${gap}`.normalize('NFD');
        expect(hashTask(isLoud ? spelled.toUpperCase() : spelled)).toBe(
          hashTask(words.join(' ').toUpperCase()),
        );
      }),
      property,
    );
    expect(hashTask(`x${'.'.repeat(200_000)}x`)).toHaveLength(16);
  });
});

describe('what a task speaks of', () => {
  const own = { member_id: 'writer', name: 'guide' };
  const others = [
    { member_id: 'researcher', name: 'outline' },
    { member_id: 'data analysis', name: null },
    { member_id: 'writer', name: 'draft-2' },
  ];
  const mentions = (task: string) => findMentions(task, own, others);

  it.each([
    ["Use the researcher's findings.", ['researcher']],
    ['Follow @outline, then "Outline" again.', ['outline']],
    ['See outline. And DRAFT-2!', ['outline', 'draft-2']],
    ['What came of the data\n Analysis?', ['data analysis']],
    ['Ｏｕｔｌｉｎｅ', ['outline']],
  ])('FM1: %j', (task, found) => {
    expect(mentions(task)).toEqual(found);
  });

  it.each([
    'Ask researchers, outlines, the outline-maker and my_outline.',
    'See design.outline and outline.v2, and draft-21.',
    'Überoutline, outlineß',
    'Nobody.',
  ])('FM1: nothing in %j', (task) => {
    expect(mentions(task)).toEqual([]);
  });

  it('FM2: neither the task itself nor its own member', () => {
    expect(mentions('As the writer, make the guide. Writer: improve the guide.')).toEqual([]);
    expect(findMentions('Ask the writer.', { member_id: 'Writer', name: null }, others)).toEqual(
      [],
    );
  });

  it('FM3: each once, in the order of the names, and no more than a task may have inputs', () => {
    expect(mentions('Researcher, outline, researcher, outline.')).toEqual([
      'outline',
      'researcher',
    ]);
    const many = Array.from({ length: 60 }, (_, i) => ({ member_id: 'm', name: `n${i % 40}` }));
    const task = many.map(({ name }) => name).join(', ');
    expect(findMentions(task, own, many)).toEqual(
      Array.from({ length: mentionsMax }, (_, i) => `n${i}`),
    );
  });

  it('FM1: a name between two spaces is always found, and only names that stand there are', () => {
    const name = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,6}$/);
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 2, maxLength: 8 }), fc.nat(), (names, n) => {
        const shown = names.slice(0, n % names.length);
        const calls = names.map((one) => ({ member_id: one, name: null }));
        const found = findMentions(
          `Take ${shown.join(' and ')} now`,
          { ...own, name: null },
          calls,
        );
        const spoken = new Set(['take', 'and', 'now', ...shown]);
        expect(found).toEqual(names.filter((one) => one !== 'writer' && spoken.has(one)));
      }),
      property,
    );
  });
});
