import type { Delegation } from '../../contracts/delegation.ts';
import { answererNames, assumingAnswerers } from '../../contracts/names.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import type { TeamOutcome } from '../../contracts/team-run.ts';
import type { TriadMember } from '../../contracts/triad.ts';
import { formatCost } from '../../contracts/format-cost.ts';
import { teamName } from '../../core/team/team-name.ts';
import { bullets, joinSections, oneLine } from './markdown.ts';
import { textOf } from './record-texts.ts';
import type { RecordTexts } from './record-texts.ts';
import { standingAssumptions } from './standing-assumptions.ts';

/** `conversation_summary_<taskname>.md` in the format of seed 003. */
export function renderConversationSummary(record: RunRecord, texts: RecordTexts): string {
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
  const resolved = record.waves
    .map((wave) => wave.decision_ref)
    .filter((ref): ref is Ref => ref !== null)
    .flatMap((ref) => textOf(texts.decisions, ref).planner_decision.conflicts_resolved)
    .map(({ resolution, conflict, superseded, keys_apart = [] }) =>
      decision(
        resolution,
        conflict,
        keys_apart.length === 0 ? superseded : 'none, all sides stand',
      ),
    );
  return bullets(
    [
      ...instructions,
      ...waived,
      ...renderTriads(record, texts),
      ...renderTeams(record, texts),
      ...resolved,
    ],
    '- None yet.',
  );
}

function plannedOf(record: RunRecord, texts: RecordTexts): readonly Delegation[] {
  return record.waves.flatMap(({ plan_ref }) =>
    plan_ref === null ? [] : textOf(texts.plans, plan_ref).delegations,
  );
}

/** That a leader has members do a delegation, who they are, and what each of them did. */
function renderTeams(record: RunRecord, texts: RecordTexts): readonly string[] {
  const outcomes = record.waves.flatMap((wave) => wave.outcomes);
  return plannedOf(record, texts).flatMap(({ delegation_id, agent_id, team }) => {
    if (team === undefined) return [];
    const done = outcomes.find((one) => one.delegation_id === delegation_id)?.team;
    const name = teamName(team);
    const whose = name === null ? 'a team' : `the team ${name}`;
    const names = (team.members ?? []).map(({ id }) => id).join(', ');
    const who = done === undefined ? names : describeWork(done);
    const what = `${delegation_id} is done by ${whose}${who === '' ? '' : `: ${who}`}`;
    return [decision(what, 'none recorded', `one agent, ${agent_id}`)];
  });
}

/** `researcher did 2 tasks for $0.02; writer did 1 task for $0.01; partial`. */
function describeWork({ members, partial }: TeamOutcome): string {
  const parts = members.map(({ member_id, delegations, usage }) => {
    const tasks = `${delegations} ${delegations === 1 ? 'task' : 'tasks'}`;
    return `${member_id} did ${tasks} for ${formatCost(usage)}`;
  });
  return [...parts, ...(partial ? ['partial'] : [])].join('; ');
}

/** That three members do a delegation, and who they are. */
function renderTriads(record: RunRecord, texts: RecordTexts): readonly string[] {
  return plannedOf(record, texts).flatMap(({ delegation_id, agent_id, triad }) => {
    if (triad === undefined) return [];
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
  const assumptions = standingAssumptions(record).map(
    (fact) =>
      `Assumption (${fact.confidence} confidence, ${fact.source_refs[0] ?? fact.origin}): ${oneLine(fact.statement)}`,
  );
  return bullets([...record.constraints.map(oneLine), ...assumptions], '- None given.');
}

function renderResolved(record: RunRecord): string {
  const answers = record.answered_questions.map((answered) => {
    const { text, answer, answer_ref, answered_by } = answered;
    const whole = answer_ref === null ? '' : ` (whole: artifact ${answer_ref})`;
    const said = assumingAnswerers.includes(answered_by)
      ? `- Assumption, nobody has answered (${whoAssumed(answered_by)}): ${oneLine(answer)}`
      : `- A (${oneLine(answered_by)}): ${oneLine(answer)}`;
    return `- Q: ${oneLine(text)}\n${said}${whole}`;
  });
  return answers.length === 0 ? '- None yet.' : answers.join('\n');
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
  return bullets([...questions, ...criteria], '- Nothing.');
}

function renderInputs(record: RunRecord): string {
  const names = record.details.map((detail) => `${detail.detail_id}: ${oneLine(detail.title)}`);
  const loads = record.waves
    .flatMap((wave) => wave.outcomes)
    .filter((outcome) => outcome.loaded_details.length > 0)
    .map(
      (outcome) => `${outcome.delegation_id} loaded ${oneLine(outcome.loaded_details.join(', '))}`,
    );
  return bullets([...names, ...loads], '- None recorded.');
}
