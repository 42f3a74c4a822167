import type { Delegation } from '../../contracts/delegation.ts';
import { countOf, formatCost } from '../../core/text/format.ts';
import { answererNames, assumingAnswerers } from '../../contracts/names.ts';
import type { RunRecord, StoredAnswer, StoredWave } from '../../contracts/run-record.ts';
import type { TeamOutcome } from '../../contracts/team-run.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { teamName } from '../../core/executor.ts';
import { bullets, joinSections, oneLine } from '../../core/text/markdown.ts';
import { resultLimits } from './limits.ts';
import { treePaths } from './paths.ts';
import { textOf, type RecordTexts } from './record-texts.ts';
import { standingAssumptions } from './render-open-ends.ts';
import type { TriadMember } from '../../contracts/triad.ts';
import type { NamedAnswer, WaveDecision } from '../../contracts/wave-plan.ts';

/**
 * Renders `conversation_summary_<taskname>.md` in the format of seed 003: the newest waves, and the newest entries of each
 * list, so that it stays as long as people read.
 */
export function renderConversationSummary(whole: RunRecord, texts: RecordTexts): string {
  const record = { ...whole, waves: whole.waves.slice(-resultLimits.summaryWavesMax) };
  return joinSections([
    `# Conversation Summary: ${oneLine(record.goal_title)}`,
    `## What We're Trying to Accomplish\n${record.goal.trim()}`,
    `## Key Decisions Made\n${renderDecisions(record, texts)}`,
    `## Constraints & Assumptions\n${renderConstraints(record)}`,
    `## Questions Resolved\n${renderResolved(record)}`,
    `## Open Items\n${renderOpenItems(record)}`,
    `## Dependencies & Integration Points\n${renderInputs(record)}`,
  ]);
}

/** Returns the newest entries of a list, after a line that says where the others are. */
function takeNewest(entries: readonly string[], rest: string): readonly string[] {
  const more = entries.length - resultLimits.listEntriesMax;
  if (more <= 0) return entries;
  return [`… and ${more} earlier: ${rest}`, ...entries.slice(more)];
}

function renderDecisions(record: RunRecord, texts: RecordTexts): string {
  const instructions = record.instructions.map((instruction) =>
    decision(instruction, 'The user asked for it while the run was at work.', 'none recorded'),
  );
  const waived = record.criteria
    .filter((criterion) => criterion.state === 'waived')
    .map((criterion) =>
      decision(
        `Criterion ${criterion.criterion_id} is given up: ${criterion.description}`,
        'The user waived it.',
        'none recorded',
      ),
    );
  const decided = record.waves.flatMap((wave) =>
    wave.decision_ref === null
      ? []
      : describeWave(wave, textOf(texts.decisions, wave.decision_ref)),
  );
  return bullets(
    [
      ...takeNewest(instructions, treePaths.pool),
      ...takeNewest(waived, treePaths.report),
      ...renderPlans(record, texts),
      ...renderTriads(record, texts),
      ...renderTeams(record, texts),
      ...decided,
    ],
    record.status === null ? '- None yet.' : '- None.',
  );
}

/** Lists each planned wave and the planner's reason. */
function renderPlans({ waves }: RunRecord, texts: RecordTexts): readonly string[] {
  return waves.flatMap(({ wave, plan_ref }) => {
    if (plan_ref === null) return [];
    const { summary, delegations } = textOf(texts.plans, plan_ref);
    const work = delegations.map(({ delegation_id, agent_id }) => `${delegation_id} (${agent_id})`);
    return [decision(`Wave ${wave} does ${work.join(', ')}`, summary, 'none recorded')];
  });
}

/** Describes the planner's decision on the results of a wave. */
function describeWave(
  { wave }: Pick<StoredWave, 'wave'>,
  { planner_decision: judged, criteria_reopened, answer }: WaveDecision,
): readonly string[] {
  const isOk = judged.io_status === 'OK';
  const reasons = isOk ? ['No criterion is open.'] : judged.not_ok_reasons;
  const next = judged.next_actions.map((action) => `Next: ${action}`);
  return [
    ...judged.conflicts_resolved.map(({ resolution, conflict, superseded, keys_apart = [] }) =>
      decision(
        resolution,
        conflict,
        keys_apart.length === 0 ? superseded : 'none, all sides stand',
      ),
    ),
    ...criteria_reopened.map(({ criterion_id, reason }) =>
      decision(`Criterion ${criterion_id} is open again`, reason, 'to take it as met'),
    ),
    decision(
      isOk ? `Wave ${wave} is enough (OK)` : `Wave ${wave} is not enough (NOT_OK)`,
      [...reasons, ...next].join(' '),
      'none recorded',
    ),
    ...(answer === null
      ? []
      : [decision(describeAnswer(answer), 'none recorded', 'none recorded')]),
  ];
}

function describeAnswer({ kind, value }: NamedAnswer): string {
  switch (kind) {
    case 'delegation':
      return `The answer is the result of ${value}`;
    case 'file':
      return `The answer is the file ${value}`;
    case 'text':
      return `The answer is: ${cutText(value, answerCharsMax)}`;
  }
}

/** Maximum characters of a free-text answer: enough to see which one was chosen. */
const answerCharsMax = 300;

function plannedOf(record: RunRecord, texts: RecordTexts): readonly Delegation[] {
  return record.waves.flatMap(({ plan_ref }) =>
    plan_ref === null ? [] : textOf(texts.plans, plan_ref).delegations,
  );
}

/** Renders the teams that do a delegation, with their members and what each of them did. */
function renderTeams(record: RunRecord, texts: RecordTexts): readonly string[] {
  const outcomes = record.waves.flatMap((wave) => wave.outcomes);
  return plannedOf(record, texts).flatMap(({ delegation_id, agent_id, executor: team }) => {
    if (team.kind !== 'team') return [];
    const ended = outcomes.find((one) => one.delegation_id === delegation_id)?.executor;
    const done = ended?.kind === 'team' ? ended.work : null;
    const name = teamName(team);
    const whose = name === null ? 'a team' : `the team ${name}`;
    const names = (team.members ?? []).map(({ id }) => id).join(', ');
    const who = done === null ? names : describeWork(done);
    const what = `${delegation_id} is done by ${whose}${who === '' ? '' : `: ${who}`}`;
    return [decision(what, 'none recorded', `one agent, ${agent_id}`)];
  });
}

/** Formats work: `researcher did 2 tasks for $0.02; writer did 1 task for $0.01; partial`. */
function describeWork({ members, partial }: TeamOutcome): string {
  const parts = members.map(({ member_id, delegations, usage }) => {
    const tasks = countOf(delegations, 'task');
    return `${member_id} did ${tasks} for ${formatCost(usage)}`;
  });
  return [...parts, ...(partial ? ['partial'] : [])].join('; ');
}

/** Renders the triads that do a delegation, with their members. */
function renderTriads(record: RunRecord, texts: RecordTexts): readonly string[] {
  return plannedOf(record, texts).flatMap(({ delegation_id, agent_id, executor: triad }) => {
    if (triad.kind !== 'triad') return [];
    const members = triad.members.map(describeMember).join('; ');
    const what = `${delegation_id} is done by a ${triad.type} triad: ${members}`;
    return [decision(what, triad.reason, `one agent, ${agent_id}`)];
  });
}

function describeMember({ name, agent_id, lens, model }: TriadMember): string {
  const details = [
    agent_id,
    ...(lens === undefined ? [] : [`lens: ${lens}`]),
    ...(model === undefined ? [] : [`model: ${model}`]),
  ];
  return `${name} (${details.join(', ')})`;
}

function decision(what: string, why: string, alternatives: string): string {
  return [
    `Decision: ${oneLine(what)}`,
    `- Rationale: ${oneLine(why)}`,
    `- Alternatives considered: ${oneLine(alternatives)}`,
  ].join('\n');
}

function renderConstraints(record: RunRecord): string {
  const assumed = record.answered_questions.filter(isAssumed);
  const asked = new Set(assumed.map(({ question_id }) => question_id));
  const assumptions = standingAssumptions(record)
    .filter(({ source_refs: [source] }) => source === undefined || !asked.has(source))
    .map(
      (fact) =>
        `Assumption (${fact.confidence} confidence, ${fact.source_refs[0] ?? fact.origin}): ${oneLine(fact.statement)}`,
    );
  return bullets(
    [
      ...record.constraints.map(oneLine),
      ...takeNewest(assumed.map(describeAssumed), treePaths.questions),
      ...takeNewest(assumptions, treePaths.pool),
    ],
    '- None given.',
  );
}

/** Returns true for an assumed answer: it was taken so that work could go on. */
function isAssumed({ answered_by }: StoredAnswer): boolean {
  return assumingAnswerers.includes(answered_by);
}

function describeAssumed(one: StoredAnswer): string {
  return `Assumption (${whoAssumed(one.answered_by)}, ${one.question_id}): ${oneLine(one.text)} ${answerOf(one)}`;
}

/** Lists the answers of people and of the planner. Assumed answers are listed with the assumptions. */
function renderResolved(record: RunRecord): string {
  const answers = record.answered_questions
    .filter((one) => !isAssumed(one))
    .map((one) =>
      [`Q: ${oneLine(one.text)}`, `- A (${oneLine(one.answered_by)}): ${answerOf(one)}`].join('\n'),
    );
  const shown = takeNewest(answers, treePaths.questions).map((answer) => `- ${answer}`);
  return shown.length === 0 ? '- None.' : shown.join('\n');
}

function answerOf({ answer, answer_ref }: StoredAnswer): string {
  const whole = answer_ref === null ? '' : ` (whole: artifact ${answer_ref})`;
  return `${oneLine(answer)}${whole}`;
}

function whoAssumed(answeredBy: string): string {
  if (answeredBy === answererNames.plannerAssumption) return 'the planner assumed it';
  return answeredBy === answererNames.default ? 'the default was taken' : 'the run assumes';
}

function renderOpenItems(record: RunRecord): string {
  const questions = record.open_questions.map(
    (question) => `Question ${question.question_id} waits for an answer: ${oneLine(question.text)}`,
  );
  const criteria = record.criteria
    .filter((criterion) => criterion.state === 'open')
    .map(
      (criterion) =>
        `Criterion ${criterion.criterion_id} is open: ${oneLine(criterion.description)}`,
    );
  return bullets(
    [...takeNewest(questions, treePaths.questions), ...takeNewest(criteria, treePaths.report)],
    '- Nothing.',
  );
}

function renderInputs(record: RunRecord): string {
  const names = record.details.map((detail) => `${detail.detail_id}: ${oneLine(detail.title)}`);
  const loads = record.waves
    .flatMap((wave) => wave.outcomes)
    .filter((outcome) => outcome.loaded_details.length > 0)
    .map(
      (outcome) => `${outcome.delegation_id} loaded ${oneLine(outcome.loaded_details.join(', '))}`,
    );
  return bullets(
    [...takeNewest(names, 'agents/'), ...takeNewest(loads, 'agents/')],
    '- None recorded.',
  );
}
