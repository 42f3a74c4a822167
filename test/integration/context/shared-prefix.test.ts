import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WaveResult } from '../../../contracts/planner-wave.ts';
import type { RecordedCall } from '../../../rehearsal/script.ts';
import { bodyOf } from '../../support/calls.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { callsOf, completed, held, isFirstTurn, work, works } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

/** Two agents of one kind, others, and a poet without any tool. */
const crew = ['researcher', 'writer', 'analyst', 'reviewer', 'researcher', 'poet'] as const;
const ids = crew.map((_, at) => `task-${at + 1}`);

/** Long enough that siblings wait for the call that writes it into the cache. */
const goal = `Say what each of these lines is about.\n${'A line of the material.\n'.repeat(500)}`;

interface Prefixed {
  readonly tools: unknown;
  readonly output_config: unknown;
  readonly system: unknown;
  readonly messages: readonly { readonly content: readonly { readonly text?: string }[] }[];
}

function prefixed(call: Pick<RecordedCall, 'body'> | undefined): Prefixed {
  const body: Prefixed = JSON.parse(JSON.stringify(call?.body ?? null));
  return body;
}

/** All that the provider reads before what is the delegation's own, in its order, with the breakpoints. */
function sharedPart(call: Pick<RecordedCall, 'body'> | undefined): string {
  const { tools, output_config, system, messages } = prefixed(call);
  return JSON.stringify([tools, output_config, system, messages[0]?.content[0]]);
}

function placeAgents(): string {
  const agents_dir = join(stage.home, 'crew');
  mkdirSync(agents_dir, { recursive: true });
  const text =
    '---\nname: poet\ndescription: Writes poems, without any tools.\n---\n\nYou write poems.\n';
  writeFileSync(join(agents_dir, 'poet.md'), text);
  return agents_dir;
}

const loads = { tool_use: [{ name: 'load_detail', input: { detail_id: 'nothing' } }] };

it('a wave of six sends one prefix, byte for byte, and five of them read what the first wrote', async () => {
  const first = held(loads);
  stage.rehearsal.script([
    { match: { schema: 'delegation', nth: 1 }, reply: first.reply },
    ...ids.map((id) =>
      works(id, ({ body }) => (isFirstTurn(body) ? loads : { json: completed(`${id}-done`) })),
    ),
  ]);
  const run = await stage.start('plannerWave', {
    goal,
    agents_dir: placeAgents(),
    limits: { max_parallel: 6 },
    delegations: ids.map((id, at) => work(id, { agent_id: crew[at] ?? '' })),
  });
  await eventually('six calls at work, one of them at the model', async () => {
    const { raw } = await run.describe();
    const turns = raw.pendingActivities?.filter(
      ({ activityType }) => activityType?.name === 'modelTurn',
    );
    return turns?.length === 6 && stage.rehearsal.calls().length === 1;
  });
  first.release();
  const wave: WaveResult = await run.result();
  expect(wave.outcomes.map(({ status, turns }) => [status, turns])).toEqual(
    ids.map(() => ['completed', 2]),
  );

  const sent = ids.map((id) => callsOf(stage.rehearsal, id));
  const parts = sent.flatMap((both) => both.map(sharedPart));
  expect(parts).toHaveLength(12);
  expect(new Set(parts).size).toBe(1);
  expect(parts[0]).toContain('A line of the material.');
  expect(parts[0]).toContain('"name":"load_detail"');
  // What is a delegation's own comes after it.
  const own = sent.map(([call]) => prefixed(call).messages[0]?.content[1]?.text ?? '');
  expect(new Set(own).size).toBe(6);
  own.forEach((text, at) => expect(text).toContain(`<role agent_id="${crew[at]}">`));

  // One wrote the shared part, five read it; the second turns read the first ones, too.
  const usages = wave.outcomes.map(({ usage }) => usage);
  const [most = 0, ...rest] = usages
    .map((usage) => usage.cache_creation_input_tokens)
    .toSorted((a, b) => b - a);
  const sharedTokens = Buffer.byteLength(goal) / 4;
  expect(most).toBeGreaterThan(sharedTokens);
  for (const written of rest) expect(written).toBeLessThan(sharedTokens / 2);
  const reads = usages.map((usage) => usage.cache_read_input_tokens);
  expect(Math.min(...reads)).toBeGreaterThan(sharedTokens);
  expect(reads.toSorted((a, b) => a - b)[1]).toBeGreaterThan(sharedTokens * 2);

  // The poet saw the tool of the others and was refused it.
  expect(own[5]).toContain('<allowed_tools>[]</allowed_tools>');
  expect(JSON.stringify(bodyOf(sent[5]?.[1]).messages.at(-1))).toContain(
    'for you. Try: go on without',
  );
  await expectPromisesKept(stage, run.workflowId);
});
