import type { RecordChange } from '../../../contracts/run-record.ts';
import type { Harness } from './harness.ts';
import {
  answered,
  asked,
  decision,
  delegation,
  met,
  outcome,
  output,
  plan,
  question,
  usage,
  wave,
  wavePlanned,
} from './samples.ts';

export const research = delegation('research', {
  acceptance_criteria: [
    { criterion_id: 'goal-1', description: 'words of the planner' },
    { criterion_id: 'sources', description: 'Three sources are named' },
  ],
  produces: ['report'],
});
export const draft = delegation('draft', {
  agent_id: 'writer',
  required_inputs: ['report'],
  provided_inputs: [],
  depends_on: ['research'],
});
export const again = delegation('research-again', {
  acceptance_criteria: [
    { criterion_id: 'goal-1', description: 'other words' },
    { criterion_id: 'sources', description: 'other words' },
  ],
  produces: ['report'],
});

export const wholeRunInput = {
  goal: 'Compare ways to store sensor data\nin a factory hall.',
  constraints: ['Free software only'],
  criteria: ['Each way is rated for cost'],
};

/**
 * A run of two waves in which everything happens that can: a question, a refused answer, an instruction, a reopened
 * criterion, a superseded assumption, a failed delegation, a waiver and an end. One entry for each update.
 */
export async function wholeRun(harness: Harness): Promise<readonly (readonly RecordChange[])[]> {
  const firstPlan = plan(research, draft);
  const firstPlanRef = await harness.put(firstPlan);
  const secondPlan = plan(again);
  const secondPlanRef = await harness.put(secondPlan);
  const researched = output({
    detailed_md: '# Report\n\nThree ways.\n',
    assumptions_made: [
      { statement: 'The hall has power.', confidence: 'medium' },
      { statement: 'There is no network.', confidence: 'low' },
    ],
    coverage: {
      ...met('goal-1'),
      criteria_unmet: [{ criterion_id: 'sources', reason: 'Only two were found.' }],
    },
  });
  const redone = output({
    detailed_md: '# Better report\n\nThree ways, three sources.\n',
    optional_questions: [
      asked('Which colour?', { default_answer: 'grey' }),
      asked('What about q1?'),
    ],
    assumptions_made: [{ statement: 'the hall has power', confidence: 'high' }],
    coverage: met('goal-1', 'sources'),
  });
  return [
    [{ type: 'phase', phase: 'working' }],
    [wavePlanned(1, firstPlanRef, firstPlan)],
    [
      {
        type: 'question_opened',
        question: question('q1', { delegation_id: 'research', agent_id: 'researcher' }),
      },
      { type: 'phase', phase: 'waiting_for_user' },
    ],
    [
      {
        type: 'answer_rejected',
        rejected: {
          question_id: 'q9',
          reason: 'There is no question q9.',
          example: { question_id: 'q1', answer: 'text' },
          rejected_at: 1_760_000_150,
        },
      },
    ],
    [
      {
        type: 'question_answered',
        answered: answered('q1', { delegation_id: 'research' }),
        answer_ref: null,
      },
      { type: 'instruction', instruction: 'Leave out\ncloud services.' },
    ],
    [
      {
        type: 'wave_done',
        wave: wave(1, {
          plan_ref: firstPlanRef,
          outcomes: [
            await outcome(harness, research, researched),
            await outcome(harness, draft, null, {
              status: 'failed',
              reason: 'It gave no valid output in 3 attempts.',
            }),
          ],
          decision_ref: await harness.put(
            decision({
              planner_decision: {
                io_status: 'NOT_OK',
                not_ok_reasons: ['Sources are missing.'],
                conflicts_resolved: [
                  {
                    conflict: 'Cloud or not',
                    resolution: 'No cloud',
                    origin: 'f2',
                    superseded: 'f1',
                  },
                ],
                next_actions: ['Search again.'],
              },
              criteria_reopened: [{ criterion_id: 'goal-1', reason: 'One way has no price.' }],
            }),
          ),
        }),
        criteria: [
          { criterion_id: 'goal-1', state: 'open', delegation_id: 'research' },
          { criterion_id: 'sources', state: 'open', delegation_id: 'research' },
          { criterion_id: 'draft-1', state: 'open', delegation_id: null },
        ],
      },
    ],
    [
      { type: 'criteria_waived', criterion_ids: ['draft-1'] },
      wavePlanned(2, secondPlanRef, secondPlan),
    ],
    [
      {
        type: 'wave_done',
        wave: wave(2, {
          plan_ref: secondPlanRef,
          outcomes: [await outcome(harness, again, redone)],
          decision_ref: await harness.put(
            decision({
              wave_compact: '# Truth at last\n\nWay two is best.',
              answer: { kind: 'delegation', value: 'research-again' },
              planner_decision: {
                io_status: 'OK',
                not_ok_reasons: [],
                conflicts_resolved: [
                  {
                    conflict: 'Network or not',
                    resolution: 'There is one',
                    origin: 'f1',
                    superseded: 'f4',
                  },
                ],
                next_actions: [],
              },
            }),
          ),
        }),
        criteria: [
          { criterion_id: 'goal-1', state: 'met', delegation_id: 'research-again' },
          { criterion_id: 'sources', state: 'met', delegation_id: 'research-again' },
          { criterion_id: 'draft-1', state: 'waived', delegation_id: null },
        ],
      },
    ],
    [{ type: 'ended', status: 'completed', usage: usage(6) }],
  ];
}
