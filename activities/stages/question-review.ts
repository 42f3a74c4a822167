import { withoutRules } from '../../core/design/task-rules.ts';
import { writeDelegation } from '../../core/executor.ts';
import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import { QuestionReview, RoutedReview } from '../../contracts/question.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import type { PlanningTerms } from '../../contracts/transcript.ts';
import { engineLimits } from '../../core/limits.ts';
import { checkSettled } from '../../core/questions/check-review.ts';
import { joinNames } from '../artifacts/packet-details.ts';
import { readOutput, readPlan } from '../artifacts/read-artifact.ts';
import { readRecord } from '../artifacts/record-log.ts';
import { currentFacts, readLastWaveCompact, showFact } from '../artifacts/read-reports.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { renderAnsweredQuestions, renderRunBlocks } from '../prompts/common-blocks.ts';
import { markData } from '../prompts/mark-data.ts';
import { reviewRules } from '../prompts/common-rules.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine, jsonBlock, listBlock, textBlock } from '../text/blocks.ts';
import { readJson } from './read-json.ts';
import { jsonReply, plannerSystem, type PromptOf, type Stage } from './stage.ts';

/** Stage in which the planner looks at an agent's questions before the user does. */
export const questionReviewStage: Stage<PromptOf<'question_review'>> = {
  reply: {
    ...jsonReply,
    shape: 'question_review',
    schemaFor: ({ planning }) => schemaOf(planning),
    async take(text, { planning }) {
      const read = readJson(schemaOf(planning), text);
      if (!read.ok) return read;
      const faults = checkSettled(read.value, planning?.unsettled ?? []);
      if (faults.length > 0) return { ok: false, faults };
      return {
        ok: true,
        text: JSON.stringify(read.value),
        outline: (review_ref) => ({
          shape: 'question_review',
          review: { ...read.value, review_ref },
        }),
      };
    },
  },
  tools: 'none',
  system: plannerSystem((planning) => reviewRules({ architect: planning?.architect === true })),
  async render(store, prompt, { callKey }) {
    const record = await readRecord(store, prompt.record_ref);
    const plan = await readPlan(store, prompt.plan_ref);
    const delegation = plan.delegations.find((one) => one.delegation_id === prompt.delegation_id);
    const waveCompact = await readLastWaveCompact(store, record);
    const facts = currentFacts(record).slice(-engineLimits.factsShownMax).map(showFact);
    const documents = await listDocuments(store, record, prompt.outputs);
    const unfinished = plan.delegations
      .filter((one) => prompt.unfinished?.includes(one.delegation_id) === true)
      .map(({ delegation_id, title, produces, depends_on }) => ({
        delegation_id,
        title,
        produces,
        depends_on,
      }));
    const questions = prompt.questions.map((question, i) => ({ question: i + 1, ...question }));
    const text = [
      `<request kind="question_review" wave="${prompt.wave}">\nAn agent of wave ${prompt.wave} is blocked by these questions. Settle each that can be settled without the user.\n</request>`,
      ...renderRunBlocks(record, prompt.amendments),
      textBlock(
        'wave_compact',
        waveCompact === '' ? 'No wave has been decided yet.' : waveCompact,
        blockBytesMax.wave_compact,
      ),
      jsonBlock(
        'delegation',
        delegation === undefined
          ? { delegation_id: prompt.delegation_id }
          : writeDelegation({
              ...delegation,
              task_description: withoutRules(delegation.task_description),
            }),
      ),
      ...(unfinished.length === 0
        ? []
        : [listBlock('unfinished', unfinished, blockBytesMax.wave_plan)]),
      ...(prompt.architect === undefined
        ? []
        : [jsonBlock('solution_architect', { agent_name: prompt.architect })]),
      markData(
        [
          await renderAnsweredQuestions(store, record),
          listBlock('facts', facts, blockBytesMax.facts, 'last'),
          listBlock('documents', documents, blockBytesMax.documents, 'last'),
          listBlock('questions', questions, blockBytesMax.questions),
        ].join('\n\n'),
        callKey,
      ),
    ].join('\n\n');
    return [{ type: 'text', text }];
  },
  async readTerms(store, { record_ref, architect, assumed = [] }) {
    const { facts } = await readRecord(store, record_ref);
    const loose = facts.filter((one) => one.is_assumption || one.superseded_by !== null);
    const unsettled = [...loose.map(({ fact_id }) => fact_id), ...assumed];
    if (architect === undefined && unsettled.length === 0) return null;
    return {
      known_inputs: [],
      triads: false,
      teams: false,
      redoes: false,
      ...(architect !== undefined && { architect: true as const }),
      ...(unsettled.length > 0 && { unsettled }),
    };
  },
};

function schemaOf(planning: PlanningTerms | null): typeof RoutedReview | typeof QuestionReview {
  return planning?.architect === true ? RoutedReview : QuestionReview;
}

/** Lists the results of earlier waves by their summaries, and those that this one has so far. */
async function listDocuments(
  store: ArtifactStore,
  record: RunRecord,
  outputs: readonly UpstreamOutput[],
): Promise<object[]> {
  const earlier = joinNames(record.details).map(({ entry: { detail_id, title, summary } }) => ({
    source_ref: detail_id,
    title,
    summary,
  }));
  const fresh = await Promise.all(
    outputs.map(async ({ delegation_id, output_ref }) => {
      const output = await readOutput(store, output_ref);
      const compact_md = cutAtLine(output.compact_md.trimEnd(), blockBytesMax.upstream_compact);
      return { source_ref: delegation_id, compact_md };
    }),
  );
  return [...earlier, ...fresh];
}
