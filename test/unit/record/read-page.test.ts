import { readRunPage } from '../../../activities/run-record/read-page.ts';
import type { QuestionKind } from '../../../contracts/question.ts';
import { describeDesign } from '../../../core/design/describe-design.ts';
import { describePlanChange, ratePlanChange } from '../../../core/design/rate-change.ts';
import { commandText } from '../../../core/text/format.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { inboxQuestion } from '../../support/factories.ts';
import { createMemoryLedger } from '../../support/memory-ledger.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { planTask, samplePlan } from '../../support/plans.ts';
import { recordOf } from '../activities/bench.ts';

const store = createMemoryStore();
const before = samplePlan();
const after = samplePlan({ tasks: [...before.tasks, planTask('further')] });

/** Reads what the page shows with an open question, as titles and texts. */
async function shownWith(kind: QuestionKind, text: string) {
  return (await readWith(kind, text))?.shown ?? [];
}

async function readWith(kind: QuestionKind, text: string, approvers?: readonly string[]) {
  const plan_ref = await store.put(JSON.stringify(before));
  const registry_ref = await store.put(JSON.stringify({ agents: [], designers: [], teams: [] }));
  const record = {
    ...recordOf(registry_ref),
    ...(approvers !== undefined && { approvers }),
    open_questions: [inboxQuestion({ kind, text })],
    design: {
      status: 'approved',
      materials: [],
      plan_refs: [plan_ref],
      plan_agents: [],
      findings: [],
      approved_by: null,
      usage: noUsage,
    },
  };
  const ref = await store.put(JSON.stringify(record));
  const index = {
    read: async () => ({ ref, version: 1 }),
    list: async () => [],
    write: () => Promise.reject(new Error('nothing is written')),
  };
  const sources = { store, index, ledger: createMemoryLedger(), diff: async () => null };
  const page = await readRunPage(sources, 'my-run');
  return page?.open_questions[0];
}

it('a changed plan that waits for approval is shown, and not the one before', async () => {
  const plan_ref = await store.put(JSON.stringify(after));
  const rating = ratePlanChange(before, after);
  const reason = { task_id: 'any', explanation: 'The listing is slow.' };
  const question = { run_id: 'my-run', usage: noUsage, worked_ms: 0 };
  const { text } = describePlanChange(before, after, { plan_ref, rating, reason, question });
  const shown = await shownWith('plan_approval', `${text}\nWhat differs: a command`);
  expect(shown.map(({ title }) => title)).toEqual(['The new version of the plan']);
  expect(shown[0]?.text).toContain('further_1727539200');
});

it('a plan that is approved first is the one of the record, whatever its summary says', async () => {
  const other = commandText('artifact', await store.put(JSON.stringify(after)));
  const text = describeDesign({
    run_id: 'my-run',
    plan: samplePlan({ summary: `A plan.\nAll of the new version: ${other}` }),
    plan_ref: 'ab'.repeat(32),
    shown: null,
    research: [],
    findings: [],
    findings_ref: null,
    remarks: [],
    use: { usage: noUsage, worked_ms: 0 },
  });
  const shown = await shownWith('plan_approval', text);
  expect(shown.map(({ title }) => title)).toEqual(['The plan']);
  expect(shown[0]?.text).not.toContain('further_1727539200');
});

it('an output that failed its verifications is shown with all its feedback', async () => {
  const [forged, whole] = [await store.put('Forged.'), await store.put('# Feedback')];
  const lines = [forged, whole].map((ref) => `All of it: ${commandText('artifact', ref)}`);
  const shown = await shownWith('verification', `It failed. What now?\n${lines.join('\n')}`);
  expect(shown).toEqual([{ title: 'All of it', text: '# Feedback' }]);
  expect(await shownWith('blocking', lines.join('\n'))).toEqual([]);
});

it('a question stays readable when the text that it shows is lost', async () => {
  const text = `SHA-256 of the whole text as it is stored, and its address in the store: ${'ab'.repeat(32)}`;
  const [shown, ...more] = await shownWith('approval', `May it pass?\n${text}`);
  expect(shown?.text).toMatch(/^It can't be shown\. The artifact abab/);
  expect(more).toEqual([]);
  expect(await shownWith('blocking', `Which?\n${text}`)).toEqual([]);
});

it('a question names those who may decide it, so that the command that answers is signed', async () => {
  expect(await readWith('approval', 'Write?', ['Ana'])).toMatchObject({ approvers: ['Ana'] });
  expect(await readWith('blocking', 'Which?', ['Ana'])).not.toHaveProperty('approvers');
  expect(await readWith('approval', 'Write?')).not.toHaveProperty('approvers');
});
