import type { LoopAnalysis, ProofDecision, ProofReview } from '../../../contracts/adaptation.ts';
import type { DesignChange } from '../../../contracts/design.ts';
import type { Verdict } from '../../../contracts/verification.ts';
import type { Reply } from '../../../rehearsal/script.ts';
import { question } from '../scripted-work.ts';
import type { Heard } from './conversation.ts';

/** The question that settles the loop: the user is asked what no task could decide. */
export const loopQuestion = {
  text: 'Is every order printed, or only those that are not paid yet?',
  answer: 'every order',
  choices: ['every order', 'only unpaid ones'],
} as const;

const proofs: Readonly<Record<string, ProofReview>> = {
  try_split: {
    criteria: [
      {
        kind: 'success',
        criterion: 'The line of a customer with a comma has three cells.',
        seen: false,
        where: 'The command printed "4 cells instead of 3".',
      },
      {
        kind: 'failure',
        criterion: 'A line has more than three cells.',
        seen: true,
        where: 'The command printed "4 cells instead of 3".',
      },
    ],
    assessment: 'fail',
    rationale: 'A name with a comma breaks the line.',
  },
  try_many: {
    criteria: [
      {
        kind: 'success',
        criterion: '100,000 orders are written as one text.',
        seen: true,
        where: 'The command printed "100000 orders written".',
      },
      {
        kind: 'failure',
        criterion: 'The program ends with another exit code than 0.',
        seen: false,
        where: 'It ended with 0.',
      },
    ],
    assessment: 'pass',
    rationale: 'The text was written.',
  },
};

const proofDecision: ProofDecision = {
  decision: 'adapt',
  rationale: 'Lines can not be split at their commas.',
  requirements: ['The import reads each line character by character.'],
};

/** Asks the user first; with the answer the plan can be changed. */
function analyseLoop({ turn }: Heard): LoopAnalysis {
  const { text, choices } = loopQuestion;
  return {
    root_cause: 'unclear_requirements',
    explanation: 'The task was answered twice, and neither answer says which orders.',
    requirements: turn === 0 ? [] : ['The program prints the orders that the user named.'],
    user_questions:
      turn === 0
        ? [question(text, { expected_answer_format: 'choice', choices: [...choices] })]
        : [],
  };
}

/** The import takes another way: only its instructions change. */
function adaptImport({ idOf }: Heard): DesignChange {
  return {
    explanation: 'The import no longer splits at commas.',
    operations: [
      {
        operation: 'append_instructions',
        task_id: idOf('write_import'),
        heading: 'Change',
        text: 'Do not split at commas: read each line character by character.',
      },
    ],
  };
}

/** The command is told what the user has settled, and a further task counts what it prints. */
function adaptCommand({ idOf, text }: Heard): DesignChange {
  const after = idOf('write_command');
  const isSettled = text.includes(loopQuestion.answer);
  return {
    explanation: 'The command is told which orders, and its lines are counted.',
    operations: [
      {
        operation: 'append_instructions',
        task_id: after,
        heading: 'Change',
        text: isSettled ? 'All orders are printed.' : 'Nobody knows which orders are printed.',
      },
      {
        operation: 'add_task',
        task: {
          task_id: `count_lines_${after.slice(-10)}`,
          title: 'Count the lines',
          agent: 'guide_agent',
          instructions:
            '## Objective\nRun the program and count its lines.\n\n## Steps\n1. Run it.\n\n## Out of scope\nChanges.',
          inputs: [
            { path: 'src/export-orders.js', format: 'JavaScript module, Node 20', from: after },
          ],
          outputs: [{ path: 'agents/guide_agent/task_output/count_lines.md', format: 'Markdown' }],
          depends_on: [after],
          validation: {
            verified_by: 'tester_agent',
            evidence: [
              { evidence_id: 'count-lines', description: 'The output names three lines.' },
            ],
          },
          proof_of_concept: null,
        },
      },
    ],
  };
}

/** Judgements of the work, by stage and task; a stage that is not here is the rehearsal's own. */
export function replyToJudging(stage: string, subject: string, heard: Heard): Reply | null {
  const task = subject.replace(/_\d{10}$/, '');
  switch (stage) {
    case 'poc_evidence':
      return { json: proofs[task] };
    case 'poc_decision':
      return { json: proofDecision };
    case 'loop_analysis':
      return { json: analyseLoop(heard) };
    case 'adaptation':
      return { json: task === 'try_split' ? adaptImport(heard) : adaptCommand(heard) };
    default:
      return null;
  }
}

/** Mark that a verifier must see in the work of a task; every other work passes. */
const seen: Readonly<Record<string, readonly [mark: string, missing: string]>> = {
  write_export: ['a comma is quoted', 'A test that quotes a comma.'],
  write_guide: ['node src/export-orders.js', 'An example of the call.'],
};

/** Passes what shows its evidence, and accepts each note. */
export function replyToVerification(delegation_id: string, { text }: Heard): Reply {
  const [mark, missing] = seen[delegation_id.replace(/_\d{10}$/, '')] ?? ['', ''];
  const isThere = text.includes(mark);
  const [, session = ''] = /<completion_notes>(.*?)<\/completion_notes>/su.exec(text) ?? [];
  const verdict: Verdict = {
    verdict: isThere ? 'pass' : 'fail',
    missing_evidence: isThere ? [] : [missing],
    reviewed_notes: [...session.matchAll(/"note_id": ?"(note_\d{3})"/g)].map(
      ([, note_id = '']) => ({ note_id, accepted: true, comment: 'It holds.' }),
    ),
  };
  return { json: verdict };
}
