import type { Priority } from '@temporalio/common';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toRunListing } from '../../client/run-listing.ts';
import { eventually } from '../support/eventually.ts';
import { listTenants } from '../support/histories.ts';
import { expectPromisesKept } from '../support/promises.ts';
import { useStage } from '../support/use-stage.ts';

const { stage } = useStage();

it.each([
  ['in one workflow', {}, [], {}],
  [
    'in a workflow each',
    { inline_events: 1 },
    [
      '/wave-001/compare-options',
      '/wave-001/gather-facts',
      '/wave-001/review-result',
      '/wave-001/write-result',
    ],
    { priorityKey: 1, fairnessKey: 'acme' },
  ],
])(
  'carries a goal through plan, parallel work %s, a question, a repair and a result',
  async (_how, limits, children, priority: Priority) => {
    const goal = 'Compare three ways to store a backup';
    const run = await stage.start('plannerRun', { goal, limits }, undefined, priority);
    const question = await eventually(
      'a question',
      async () => (await stage.questions(run)).open[0],
    );
    expect(question).toMatchObject({
      question_id: 'q1',
      kind: 'blocking',
      expected_answer_format: 'choice',
    });
    await run.signal('answer', { question_id: 'q1', answer: question.choices[1] });

    const result = await stage.result(run);
    expect(result).toMatchObject({ status: 'completed', waves: 1 });
    expect(result.criteria.map(({ state }) => state)).not.toContain('open');
    const text = readFileSync(join(stage.home, result.result_path), 'utf8');
    expect(text).toContain(goal);
    expect(text).toContain('rehearsal');
    expect(text).toContain(result.answer);
    const report = readFileSync(join(stage.home, result.report_path), 'utf8');
    expect(report).toContain(question.choices[1]);

    const histories = await expectPromisesKept(stage, run.workflowId);
    const ids = histories.map(({ workflowId }) => workflowId.slice(run.workflowId.length));
    expect(ids.toSorted()).toEqual(['', '/wave-001', ...children]);
    // The place of the start command holds for all work (openRun inherits it on the server), and is shown.
    const tenant = priority.fairnessKey ?? '';
    const { openRun, ...others } = listTenants(histories);
    expect([openRun, ...new Set(Object.values(others))]).toEqual(['', tenant]);
    const { load } = toRunListing(await run.describe());
    expect([load?.tenant ?? '', load?.priority]).toEqual([tenant, priority.priorityKey]);
    // A plan, a decision, four delegations; one more call each for the answer, the repair, and two loaded details.
    expect(stage.rehearsal.counts().calls).toBe(result.usage.calls);
  },
);
