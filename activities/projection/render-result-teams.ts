import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import type { TeamOutcome } from '../../contracts/team-run.ts';
import { bullets, cutLine, embedMarkdown, oneLine } from './markdown.ts';
import { treePaths } from './paths.ts';
import { textOf } from './record-texts.ts';
import type { RecordTexts } from './record-texts.ts';
import { renderTeamCosts } from './render-team-costs.ts';
import { resultLimits } from './result-limits.ts';

interface DoneByTeam extends DelegationOutcome {
  readonly team: TeamOutcome;
}

function listTeams(record: RunRecord): readonly DoneByTeam[] {
  return record.waves
    .flatMap(({ outcomes }) => outcomes)
    .flatMap((outcome) => {
      const { executor } = outcome;
      if (executor.kind !== 'team' || executor.work === null) return [];
      return [{ ...outcome, team: executor.work }];
    });
}

/** What a team delivers that did not complete: no deliverable, and still something. */
function partialOutput({ status, output_ref }: DelegationOutcome): Ref | null {
  return status === 'completed' ? null : output_ref;
}

/** Who did what for each team, what it cost, and what it brought although it is not whole. Null without a team. */
export function renderResultTeams(record: RunRecord, texts: RecordTexts): string | null {
  const parts = listTeams(record).map((one) => renderTeam(one, texts));
  return parts.length === 0 ? null : ['## Teams', ...parts].join('\n\n');
}

function renderTeam(one: DoneByTeam, texts: RecordTexts): string {
  const { delegation_id, title, team } = one;
  return [
    `### ${delegation_id}: ${oneLine(title)}`,
    bullets(describeEnd(one), ''),
    renderTeamCosts(team),
    ...renderBrought(one, texts),
  ].join('\n\n');
}

function describeEnd({ delegation_id, status, reason, team }: DoneByTeam): readonly string[] {
  const whole = treePaths.team(delegation_id);
  const shorten = (text: string): string =>
    cutLine(text, { charsMax: resultLimits.lineCharsMax, whole });
  const counts = Object.entries(team.tasks)
    .filter(([, count]) => count > 0)
    .map(([how, count]) => `${count} ${how.replaceAll('_', ' ')}`);
  return [
    `${status}${reason === '' ? '' : `: ${shorten(reason)}`}`,
    `Tasks: ${counts.length === 0 ? 'none' : counts.join(', ')}`,
    ...(team.partial ? ['Partial: it may hold less than was asked for'] : []),
    ...team.notes.map(shorten),
    `Who did what, and what each brought: ${whole}`,
  ];
}

function renderBrought(one: DoneByTeam, texts: RecordTexts): readonly string[] {
  const ref = partialOutput(one);
  if (ref === null) return [];
  const text = embedMarkdown(textOf(texts.outputs, ref).compact_md, {
    depth: 3,
    charsMax: resultLimits.waveCompactCharsMax,
    whole: `artifact ${ref}`,
  });
  return [text];
}
