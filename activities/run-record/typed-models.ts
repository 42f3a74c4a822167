import type { TriadMember } from '../../contracts/triad.ts';
import type { RunRequest } from './read-input.ts';

/** Members of all triads that came with an input: of its delegations, and of its teams. */
export function listTypedMembers({
  delegations,
  teams,
}: Pick<RunRequest, 'delegations' | 'teams'>): readonly TriadMember[] {
  const executors = (delegations ?? []).map(({ executor }) => executor);
  const ofTriads = executors.flatMap((one) => (one.kind === 'triad' ? one.members : []));
  const planned = executors.flatMap((one) => (one.kind === 'team' ? [one] : []));
  const inTeams = [...planned, ...(teams ?? [])].flatMap(({ members = [] }) => members);
  return [...ofTriads, ...inTeams.flatMap(({ triad }) => triad?.members ?? [])];
}

/** Leaders that were given a model of their own, under the names of their teams. */
export function listTypedLeaders({
  teams,
}: Pick<RunRequest, 'teams'>): readonly { readonly name: string; readonly model: string }[] {
  return (teams ?? []).flatMap(({ team_id, model }) =>
    model === undefined ? [] : [{ name: team_id, model }],
  );
}
