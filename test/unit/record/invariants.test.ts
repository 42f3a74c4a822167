import type { RunRecord } from '../../../contracts/run-record.ts';
import { addUsage } from '../../../core/usage/add-usage.ts';
import { createHarness } from './harness.ts';
import { wholeRun, wholeRunInput } from './whole-run.ts';
import type { Fact } from '../../../contracts/agent-output.ts';

/** The records of a whole run, oldest first. */
async function recordsOfRun(): Promise<readonly RunRecord[]> {
  const harness = await createHarness();
  const run = await harness.begin('my-run', wholeRunInput);
  const records = [await run.record()];
  for (const changes of await wholeRun(harness)) {
    await run.apply(...changes);
    records.push(await run.record());
  }
  return records;
}

function unmarked(facts: readonly Fact[]): readonly Fact[] {
  return facts.map((fact) => ({ ...fact, superseded_by: null }));
}

function idsOf(questions: readonly { readonly question_id: string }[]): ReadonlySet<string> {
  return new Set(questions.map((one) => one.question_id));
}

let records: readonly RunRecord[];
beforeEach(async () => {
  records = await recordsOfRun();
});

it('RL1: facts and answers are only added, and of a fact only superseded_by changes', () => {
  for (const [index, record] of records.entries()) {
    const { facts, answered_questions } = records[index - 1] ?? record;
    expect(unmarked(record.facts).slice(0, facts.length)).toEqual(unmarked(facts));
    expect(record.answered_questions.slice(0, answered_questions.length)).toEqual(
      answered_questions,
    );
    for (const fact of facts.filter((one) => one.superseded_by !== null)) {
      expect(record.facts).toContainEqual(fact);
    }
  }
});

it('RL2: the usage is the sum of the waves until the run ends', () => {
  for (const record of records.slice(0, -1)) {
    expect(record.usage).toEqual(addUsage(...record.waves.map((wave) => wave.usage)));
  }
});

it('RL3: a question is open or answered, never both', () => {
  const seen = { open: 0, answered: 0 };
  for (const { open_questions, answered_questions } of records) {
    const open = idsOf(open_questions);
    const answered = idsOf(answered_questions);
    expect([...open].filter((id) => answered.has(id))).toEqual([]);
    seen.open += open.size;
    seen.answered += answered.size;
  }
  expect(seen.open).toBeGreaterThan(0);
  expect(seen.answered).toBeGreaterThan(0);
});

it('each record names the one before it and counts one more', () => {
  expect(records.map((record) => record.revision)).toEqual(records.map((_, index) => index));
  expect(new Set(records.map((record) => record.previous_ref)).size).toBe(records.length);
});
