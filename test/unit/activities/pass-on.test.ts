import { passOn } from '../../../activities/stages/agent-output.ts';
import type { AgentOutput, PassingOutput } from '../../../contracts/agent-output.ts';
import type { Passable } from '../../../contracts/agent-output.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import type { MemoryStore } from '../../support/memory-store.ts';
import { completed } from '../../support/scripted-work.ts';

const own = (detailed_md: string, detailed_from?: string[]): PassingOutput => ({
  ...completed('c1'),
  detailed_md,
  ...(detailed_from !== undefined && { detailed_from }),
});

async function resultOf(store: MemoryStore, name: string, detailed_md: string): Promise<Passable> {
  const output: AgentOutput = { ...completed('c1'), detailed_md };
  const output_ref = await store.put(JSON.stringify(output));
  return { type: 'result', names: [name, `task.${name}`], output_ref };
}

async function sectionsOf(
  store: MemoryStore,
  sections: readonly (readonly [id: string, text: string, language: string | null])[],
): Promise<Passable> {
  return {
    type: 'sections',
    names: ['sections'],
    sections: await Promise.all(
      sections.map(async ([section_id, text, language]) => ({
        section_id,
        text_ref: await store.put(text),
        language,
      })),
    ),
  };
}

const detailOf = async (
  store: MemoryStore,
  output: PassingOutput,
  passable: readonly Passable[],
) => {
  const passed = await passOn(store, output, passable);
  return passed.ok ? passed.value.detailed_md : passed.faults;
};

it('finding P7: a result that is named is passed on whole, after what the leader writes', async () => {
  const store = createMemoryStore();
  const policy = `# Policy\n\n${'Call the person on duty. '.repeat(2_000)}`;
  const passable = [await resultOf(store, 'policy', policy), await resultOf(store, 'notes', 'No.')];
  expect(await detailOf(store, own('', ['policy']), passable)).toBe(policy);
  expect(await detailOf(store, own('', ['task.policy', 'task.policy']), passable)).toBe(policy);
  const both = await detailOf(store, own('# First', ['policy', 'notes']), passable);
  expect(both).toMatch(/^# First\n\n# Policy\n[^]+duty\.\n\nNo\.\n$/u);
  const passed = await passOn(store, own('', ['policy']), passable);
  expect(passed.ok && passed.value).not.toHaveProperty('detailed_from');
});

it('finding P7: a name that no result has comes back with those that are there', async () => {
  const store = createMemoryStore();
  const passable = [await resultOf(store, 'policy', '# Policy')];
  expect(await detailOf(store, own('# First', ['policy', 'plan']), passable)).toEqual([
    {
      path: 'detailed_from[1]',
      reason: 'nothing with a result is called "plan"',
      hint: 'Try: one of "policy"',
    },
  ]);
  expect(await detailOf(store, own(' '), passable)).toEqual([
    {
      path: 'detailed_md',
      reason: 'it is empty, and detailed_from passes nothing on',
      hint: 'Try: the whole result in detailed_md, or detailed_from with one of "policy"',
    },
  ]);
});

it('finding P5: the agreed sections are passed on in their order, code as code', async () => {
  const store = createMemoryStore();
  const passable = await sectionsOf(store, [
    ['keys', '# Keys\n\nDevice and time.', null],
    ['rows', 'A row for each reading.', null],
    ['ddl', 'CREATE TABLE readings;', 'sql'],
  ]);
  expect(await detailOf(store, own('', ['sections']), [passable])).toBe(
    '# Keys\n\nDevice and time.\n\n## rows\n\nA row for each reading.\n\n## ddl\n\n```sql\nCREATE TABLE readings;\n```\n',
  );
  const one = await sectionsOf(store, [['c1', 'Yes.\n\n```', null]]);
  expect(await detailOf(store, own('# Short', ['sections']), [one])).toBe(
    '# Short\n\nYes.\n\n```\n',
  );
});
