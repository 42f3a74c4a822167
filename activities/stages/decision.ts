import type { AgentOutput } from '../../contracts/agent-output.ts';
import type { ExecutorEnd, TeamEnd } from '../../contracts/team-run.ts';
import { withoutRules } from '../../core/design/task-rules.ts';
import { dropReplacedOutcomes } from '../../core/schedule/dependencies.ts';
import { shareBytes } from '../../core/text/cut-text.ts';
import { listRecordedDetails } from '../artifacts/packet-details.ts';
import { readOutput, readPlan, readWhole } from '../artifacts/read-artifact.ts';
import { readRecord } from '../artifacts/record-log.ts';
import { readLastWaveCompact } from '../artifacts/read-reports.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import {
  renderAnsweredQuestions,
  renderOpenCriteria,
  renderRunBlocks,
} from '../prompts/common-blocks.ts';
import { cutAtSection } from '../prompts/cut-at-section.ts';
import { markData } from '../prompts/mark-data.ts';
import { loadWhole } from '../prompts/packet-parts.ts';
import { decisionRules } from '../prompts/common-rules.ts';
import { renderPoolBlocks } from '../prompts/render-pool-blocks.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine, listBlock, textBlock } from '../text/blocks.ts';
import { countBytes } from '../text/bytes.ts';
import { readJson } from './read-json.ts';
import { jsonReply, plannerSystem, type PromptOf, type Stage } from './stage.ts';
import { WaveDecision, type WavePlan } from '../../contracts/wave-plan.ts';
import type { TriadEnd } from '../../contracts/triad-run.ts';

type Outcome = PromptOf<'decision'>['outcomes'][number];

/** Stage in which the planner decides on the results of a wave. */
export const decisionStage: Stage<PromptOf<'decision'>> = {
  reply: {
    ...jsonReply,
    shape: 'wave_decision',
    schemaFor: () => WaveDecision,
    async take(text) {
      const read = readJson(WaveDecision, text);
      if (!read.ok) return read;
      const {
        wave_compact: _compact,
        wave_detailed: _detailed,
        facts: _facts,
        ...kept
      } = read.value;
      const { answer, ...rest } = kept;
      const has_answer = answer !== null;
      return {
        ok: true,
        text: JSON.stringify(read.value),
        outline: (decision_ref) => ({
          shape: 'wave_decision',
          decision: { ...rest, has_answer, decision_ref },
        }),
      };
    },
  },
  tools: 'planner',
  system: plannerSystem(() => decisionRules),
  async render(store, prompt, { callKey }) {
    const record = await readRecord(store, prompt.record_ref);
    const plan = await readPlan(store, prompt.plan_ref);
    const agentOf = new Map(plan.delegations.map((one) => [one.delegation_id, one.agent_id]));
    const ended = await Promise.all(prompt.outcomes.map((outcome) => readEnded(store, outcome)));
    const standing = new Set(dropReplacedOutcomes(ended));
    const outcomes = ended.map((one) => ({
      delegation_id: one.delegation_id,
      agent_id: agentOf.get(one.delegation_id) ?? null,
      ...(standing.has(one) ? describeOutcome(one) : { status: one.status, replaced: true }),
    }));
    const waveCompact = await readLastWaveCompact(store, record);
    const known = listRecordedDetails(record).shown.map(({ entry }) => entry.detail_id);
    const text = [
      `<request kind="decision" wave="${prompt.wave}">\nDecide on wave ${prompt.wave}: check the evidence of the outcomes, resolve what contradicts itself, and write down the truth as it now stands. The open criteria are those that stay open when every outcome is taken at its word.${record.design === undefined ? '' : planGoesOn}\n</request>`,
      ...renderRunBlocks(record, prompt.amendments),
      textBlock(
        'wave_compact',
        waveCompact === '' ? 'This is the first wave to be decided.' : waveCompact,
        blockBytesMax.wave_compact,
      ),
      markData(
        [
          await renderAnsweredQuestions(store, record),
          listBlock('wave_plan', plan.delegations.map(describePlanned), blockBytesMax.wave_plan),
          listBlock('outcomes', outcomes, blockBytesMax.outcomes),
          renderWork(await readWorks(store, ended)),
          listBlock('known_details', known, blockBytesMax.known_details, 'last'),
          ...(await renderPoolBlocks(store, record, prompt)),
          renderOpenCriteria(
            record,
            prompt.open_criteria,
            plan.delegations.flatMap((one) => one.acceptance_criteria),
          ),
        ].join('\n\n'),
        callKey,
      ),
    ].join('\n\n');
    return [{ type: 'text', text }];
  },
};

/** The planner of a designed run plans a wave only for what the plan leaves open. */
const planGoesOn =
  ' An approved plan is being carried out: its next tasks start by themselves. For all criteria whose tasks come later, one reason together is enough. next_actions says only what to do about a task of this wave that did not meet its own.';

/** Shows what a delegation was to do, and by what it is judged. */
function describePlanned(planned: WavePlan['delegations'][number]): object {
  const { delegation_id, title, task_description, acceptance_criteria } = planned;
  return {
    delegation_id,
    title,
    task_description: withoutRules(task_description),
    acceptance_criteria,
  };
}

/** Outcome with the delegation's output; null when there is none. */
type Ended = Outcome & { readonly output: AgentOutput | null };

async function readEnded(store: ArtifactStore, outcome: Outcome): Promise<Ended> {
  const { output_ref } = outcome;
  if (output_ref === null) return { ...outcome, output: null };
  return {
    ...outcome,
    output: await readOutput(store, output_ref),
  };
}

/** Reads the work of the wave. A delegation that was replaced within it is left out: its newer version is there. */
async function readWorks(store: ArtifactStore, ended: readonly Ended[]): Promise<Work[]> {
  const works = await Promise.all(
    dropReplacedOutcomes(ended).map(async ({ delegation_id, output, files = [] }) =>
      output === null ? [] : [{ delegation_id, text: await readWhole(store, output, files) }],
    ),
  );
  return works.flat();
}

function describeOutcome(outcome: Ended): Record<string, unknown> {
  const { status, reason, criteria_met, criteria_unmet, output } = outcome;
  const { executor_end, replaces } = outcome;
  const executor = {
    ...(replaces !== undefined && { replaces }),
    ...describeEnd(executor_end),
  };
  if (output === null) {
    return {
      ...executor,
      status,
      reason,
      criteria_met: [],
      criteria_unmet: criteria_unmet.map((criterion_id) => ({ criterion_id, reason })),
      compact_md: '',
      assumptions_made: [],
      facts: [],
      optional_questions: [],
      missing_info_requests: [],
      effects_confirmed: [],
    };
  }
  const { coverage, assumptions_made, facts, optional_questions, effects_claimed } = output;
  const { missing_info_requests } = output;
  const evidence = new Map(
    coverage.criteria_met.map(({ criterion_id, ...shown }) => [criterion_id, shown]),
  );
  const reasons = new Map(coverage.criteria_unmet.map((one) => [one.criterion_id, one.reason]));
  return {
    ...executor,
    status,
    reason,
    criteria_met: criteria_met.map((criterion_id) => ({
      criterion_id,
      ...evidence.get(criterion_id),
    })),
    criteria_unmet: criteria_unmet.map((criterion_id) => ({
      criterion_id,
      reason: reasons.get(criterion_id) ?? reason,
    })),
    compact_md: cutAtLine(output.compact_md.trimEnd(), blockBytesMax.outcome_compact),
    assumptions_made,
    facts,
    optional_questions,
    missing_info_requests,
    // A claim without a confirmed effect never gets here.
    effects_confirmed: effects_claimed,
  };
}

/** Describes what a triad or a team came to; nothing for an agent. */
function describeEnd(end: ExecutorEnd | null): Record<string, unknown> {
  if (end === null) return {};
  return end.kind === 'triad' ? { triad: describeTriad(end) } : { team: describeTeam(end) };
}

/** Describes a triad and its failure. What it could not settle is among the conflicts. */
function describeTriad({ type, failure }: TriadEnd): Record<string, unknown> {
  return failure === null ? { type } : { type, failure };
}

/** Describes a team and whether its result is complete. */
function describeTeam({ team_id, tasks, partial }: TeamEnd): Record<string, unknown> {
  return team_id === null ? { tasks, partial } : { team_id, tasks, partial };
}

/** The whole result of a delegation. */
interface Work {
  readonly delegation_id: string;
  readonly text: string;
}

/** Renders the work of a wave for the planner: whole as far as there is room, then with how to load the rest. */
function renderWork(works: readonly Work[]): string {
  const texts = works.map(({ text }) => text.trimEnd());
  const shares = shareBytes(texts.map(countBytes), blockBytesMax.work);
  const sections = works.map(({ delegation_id }, at) => {
    const text = cutAtSection(texts[at] ?? '', shares[at] ?? 0, loadWhole(delegation_id));
    return `# Work of ${delegation_id}\n\n${text}`;
  });
  return textBlock('work', sections.join('\n\n') || 'No delegation brought an output.', Infinity);
}
