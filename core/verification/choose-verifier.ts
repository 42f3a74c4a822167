/**
 * Chooses who verifies a delegation.
 *
 * Invariants:
 *   VC1. A verifier is none of the authors: not the agent, not a member of the triad or team or of a team in it, not a leader.
 *        Nor is a member of a triad that verifies. Where the agents of a team are unknown, all agents are authors.
 *   VC2. An order of the plan is kept, or refused; it is never replaced by another verifier.
 *   VC3. Where a verifier is added, files are checked by the tester and texts by the reviewer, where these exist.
 *   VC4. A verifier is added to every delegation of a run that verifies all of them, and else to those that work on a criterion
 *        for which the run requires one.
 *   VC5. What the planner gives out besides an approved plan is verified by a verifier of that plan who is no author, as a
 *        triad if it judges as one; where all are authors, as by VC3.
 *   VC6. Where the run wants a triad, three seats that are no author's judge instead of the agent by VC3.
 */
import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import { plannerAgentId } from '../../contracts/names.ts';
import type { WorkTerms } from '../../contracts/planner-run.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { TurnOutline } from '../../contracts/model-turn.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import type { VerifierTriad } from '../../contracts/verification.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';
import type { TeamSummary } from '../../contracts/team.ts';
import { agentsOfDelegation } from '../team/summarise-teams.ts';
import { noteIdOf } from '../notes/step-notes.ts';
import { chooseMembers, findWriter } from '../triad/roles.ts';

type Authored = Pick<DelegationOutline, 'agent_id' | 'executor'>;

function knownAuthors(
  verification: DelegationOutline['verification'],
  delegation: Authored,
): readonly string[] {
  return verification?.authors ?? listNamed(delegation);
}

/** Lists the authors that a delegation names by their agent_id. */
function listNamed({ agent_id, executor }: Authored): readonly string[] {
  switch (executor.kind) {
    case 'agent':
      return [agent_id];
    case 'triad':
      return [agent_id, ...(executor.members ?? []).map((member) => member.agent_id)];
    case 'team':
      return [
        agent_id,
        ...(executor.members ?? []).flatMap((member) => [
          ...(member.agent_id === undefined ? [] : [member.agent_id]),
          ...(member.triad?.members ?? []).map((one) => one.agent_id),
        ]),
      ];
  }
}

type ChosenVerifier =
  | { readonly ok: true; readonly agent_id: string }
  | { readonly ok: false; readonly agent_id: string; readonly reason: string };

/** Returns the verifier of a finished output, or the reason why its verifier must not judge it. */
export function chooseVerifier(
  { verification, ...delegation }: Authored & Pick<DelegationOutline, 'verification'>,
  { files = [] }: Pick<DelegationOutcome, 'files'>,
): ChosenVerifier {
  const named = verification?.verified_by ?? '';
  const agent_id = files.length > 0 ? (verification?.verified_by_for_files ?? named) : named;
  const authors = knownAuthors(verification, delegation);
  const own = [agent_id, ...(verification?.triad_agents ?? [])].find((id) => authors.includes(id));
  if (agent_id !== '' && own === undefined) return { ok: true, agent_id };
  const reason =
    own === undefined
      ? 'No agent is left that is not an author of the output, so it could not be verified. Try: another agent as author or as verifier.'
      : `${own} would verify its own work. Try: another verifier.`;
  return { ok: false, agent_id, reason };
}

/** Agents that are asked first, by what is verified. */
const preferred = { files: ['tester', 'reviewer'], texts: ['reviewer', 'tester'] } as const;

/** Terms of a run by which verifiers are added. */
type Verifying = Pick<WorkTerms, 'verify' | 'verify_triad'> &
  Pick<WaveOrder, 'verifiers' | 'verifier_triads'> & {
    readonly agents: readonly Pick<AgentSummary, 'agent_id'>[];
    /** Teams that a plan may name; null when teams are not allowed. */
    readonly teams: readonly TeamSummary[] | null;
  };

/**
 * Adds a verifier to the delegations of a plan that have none, where the run requires one, and to verified teams their
 * authors: all agents that may work in them.
 */
export function addVerifiers(plan: WavePlanOutline, terms: Verifying): WavePlanOutline {
  const { verify = [], verifiers } = terms;
  const isRequired = ({ criterion_ids }: DelegationOutline): boolean =>
    verify === true || verifiers !== undefined || criterion_ids.some((id) => verify.includes(id));
  return {
    ...plan,
    delegations: plan.delegations.map((one) => {
      if (one.verification === undefined && !isRequired(one)) return one;
      const authors = listAuthors(one, terms);
      const verification = one.verification ?? verifierFor(authors, terms);
      const isTeam = one.executor.kind === 'team';
      return { ...one, verification: { ...verification, ...(isTeam && { authors }) } };
    }),
  };
}

/** Lists the agents that may have written the output. */
function listAuthors(
  delegation: DelegationOutline,
  { agents, teams }: Verifying,
): readonly string[] {
  const known = agentsOfDelegation(delegation, teams);
  return [...new Set(known ?? agents.map(({ agent_id }) => agent_id))];
}

function verifierFor(
  authors: readonly string[],
  { verify_triad, verifiers = [], verifier_triads = {}, agents }: Verifying,
): NonNullable<DelegationOutline['verification']> {
  const isAuthor = (id: string): boolean => authors.includes(id);
  const ofPlan = verifiers
    .map((id) => judging(id, verifier_triads[id]))
    .find((one) => ![one.verified_by, ...(one.triad_agents ?? [])].some(isAuthor));
  if (ofPlan !== undefined) return ofPlan;
  const free = agents.filter(({ agent_id }) => agent_id !== plannerAgentId && !isAuthor(agent_id));
  const members = verify_triad === undefined ? null : chooseMembers(verify_triad, free);
  if (verify_triad !== undefined && members !== null) {
    const triad = { type: verify_triad, reason: 'The run wants a triad as verifier.', members };
    return judging(findWriter(verify_triad, members)?.agent_id ?? '', triad);
  }
  const ids = free.map(({ agent_id }) => agent_id);
  const choose = (wanted: readonly string[]): string =>
    wanted.find((id) => ids.includes(id)) ?? ids[0] ?? '';
  return {
    verified_by: choose(preferred.texts),
    verified_by_for_files: choose(preferred.files),
  };
}

/** Orders a verification by an agent, alone or as the writer of a triad. */
function judging(
  verified_by: string,
  triad: VerifierTriad | undefined,
): NonNullable<DelegationOutline['verification']> {
  if (triad === undefined) return { verified_by };
  return { verified_by, triad_agents: triad.members.map(({ agent_id }) => agent_id), triad };
}

/**
 * Checks a verdict beyond its shape.
 *
 * Invariants:
 *   VD1. A failure names what is missing, or refuses a note; a pass names nothing.
 *   VD2. A pass judges and accepts every note of the author.
 *   VD3. Nothing passes on whose judgement a triad did not agree.
 *
 * @param judged `isDisputed`: true when a triad has judged, and did not agree. `notes`: number of the author's notes.
 */
export function checkVerdict(
  outline: TurnOutline,
  { isDisputed, notes }: { readonly isDisputed?: boolean; readonly notes?: number } = {},
): OutputFault[] {
  if (outline.shape !== 'verification') return [];
  const { verdict, missing, refused_notes: refused = [] } = outline.verdict;
  if (verdict === 'pass' && isDisputed === true) {
    return [
      {
        path: 'verdict',
        reason: 'verdict is "pass" but the triad did not agree on its judgement',
        hint: 'Try: verdict "fail", and in missing_evidence what its author must show to settle what is disputed',
      },
    ];
  }
  if (verdict === 'pass' && refused.length > 0) {
    return [
      {
        path: 'reviewed_notes',
        reason: `verdict is "pass" but ${refused.join(', ')} not accepted`,
        hint: 'Try: verdict "fail", or accepted true for a note that does the task no harm',
      },
    ];
  }
  if (verdict === 'fail' && missing + refused.length === 0) {
    return [
      {
        path: 'missing_evidence',
        reason: 'verdict is "fail" but nothing is missing',
        hint: 'Try: what its author must show or mend, one entry each',
      },
    ];
  }
  if (verdict === 'pass' && missing > 0) {
    return [
      {
        path: 'missing_evidence',
        reason: `verdict is "pass" but ${missing} entries are missing`,
        hint: 'Try: verdict "fail", or an empty missing_evidence',
      },
    ];
  }
  return checkReviewed(outline.verdict, notes);
}

/** Finds notes that a pass leaves out. */
function checkReviewed(
  { verdict, reviewed_notes: reviewed }: Extract<TurnOutline, { shape: 'verification' }>['verdict'],
  count = 0,
): OutputFault[] {
  if (verdict === 'fail') return [];
  const left = Array.from({ length: count }, (_, nth) => noteIdOf(nth + 1)).filter(
    (id) => !reviewed.includes(id),
  );
  if (left.length === 0) return [];
  return [
    {
      path: 'reviewed_notes',
      reason: `verdict is "pass" but ${left.join(', ')} not judged`,
      hint: 'Try: one entry for each note of <completion_notes>, by its note_id',
    },
  ];
}
