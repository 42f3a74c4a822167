import type { AgentOutput } from '../../contracts/agent-output.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import { cutText } from '../../core/text/cut-text.ts';
import type { LoadedTask, LoadedTeam } from '../projection/record-texts.ts';
import { bullets, cutLine, oneLine } from '../../core/text/markdown.ts';
import { describeEnd, renderBrought } from '../projection/render-team.ts';
import { teamLimits } from '../projection/limits.ts';

/** Limits of an output's shape. */
const reasonCharsMax = 1_000;
const effectsMax = 50;

/**
 * Composes an output from the members' results when a team ended without an answer of its leader; it is marked as
 * partial. The engine writes it from the records, so it contains nothing that a member did not state.
 *
 * @returns null when there are no results.
 */
export function composePartial(
  { report, tasks }: LoadedTeam,
  { acceptance_criteria }: Delegation,
): AgentOutput | null {
  const brought = tasks.filter((task) => task.output !== null || task.partial !== null);
  if (brought.length === 0) return null;
  const why = report.reason.trim() === '' ? `The team ended as ${report.status}.` : report.reason;
  const reason = cutText(`The team's leader gave no answer: ${oneLine(why)}`, reasonCharsMax);
  const effects = new Set(brought.flatMap((task) => task.output?.effects_claimed ?? []));
  return {
    compact_md: renderCompact(reason, tasks, brought),
    detailed_md: renderDetailed(reason, tasks),
    status: 'failed',
    blocking_questions: [],
    optional_questions: [],
    missing_info_requests: [],
    assumptions_made: [],
    // The members' facts are left out, because their leader has not checked them.
    facts: [],
    effects_claimed: [...effects].slice(0, effectsMax),
    coverage: {
      criteria_met: [],
      criteria_unmet: acceptance_criteria.map(({ criterion_id }) => ({ criterion_id, reason })),
    },
  };
}

function renderCompact(
  reason: string,
  tasks: readonly LoadedTask[],
  brought: readonly LoadedTask[],
): string {
  const missing = tasks.filter(({ status }) => status !== 'completed');
  return [
    `**Not whole.** ${reason}`,
    `What came:\n\n${bullets(brought.map(describeBrought), '')}`,
    `What is missing:\n\n${bullets(['the answer of the leader', ...missing.map(describeMissing)], '')}`,
  ].join('\n\n');
}

function describeBrought(task: LoadedTask): string {
  const { output, output_ref, partial, partial_ref } = task;
  const short =
    output === null
      ? `not whole: ${shorten(partial ?? '', `artifact ${partial_ref ?? ''}`)}`
      : shorten(output.compact_md, `artifact ${output_ref ?? ''}`);
  return `${nameOf(task)}: ${short}`;
}

function describeMissing(task: LoadedTask): string {
  return `${nameOf(task)}: ${shorten(describeEnd(task), 'the report')}`;
}

function nameOf({ delegation_id, member_id }: LoadedTask): string {
  return `\`${delegation_id}\` by ${member_id}`;
}

function shorten(text: string, whole: string): string {
  return cutLine(text, { charsMax: teamLimits.shortCharsMax, whole });
}

function renderDetailed(reason: string, tasks: readonly LoadedTask[]): string {
  return ['# What members brought, not whole', reason, ...tasks.map(renderSection)].join('\n\n');
}

function renderSection(task: LoadedTask): string {
  const { delegation_id, title, member_id, output_ref } = task;
  const whole = output_ref === null ? '' : `; whole: artifact ${output_ref}`;
  return [
    `## \`${delegation_id}\`: ${oneLine(title)}`,
    `*By ${member_id}; ${describeEnd(task)}${whole}*`,
    ...renderBrought(task, { depth: 2 }),
  ].join('\n\n');
}
