/**
 * Checks the input of a single phase that is started by hand.
 *
 * Invariants:
 *   PB1. Each phase takes the result of the phase before it, and nothing else: `deliberate` nothing, `negotiate` a
 *        summary and claims, `execute` a summary and owners.
 *   PB2. Claims and owners name sections of the spec and members whose role may own one.
 *   PB3. A member claims a section once.
 *   PB4. All faults are reported at once, each with path, reason and "Try: …".
 */
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { TriadMember, TriadPhase } from '../../contracts/triad.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { mayWrite } from './roles.ts';

/** The typed input, without its texts. */
export interface TypedStart {
  readonly phase: TriadPhase;
  readonly has_summary: boolean;
  readonly claims: readonly Ownership[] | undefined;
  /** Maps section_id to member. */
  readonly owners: Readonly<Record<string, string>> | undefined;
}

interface Ownership {
  readonly section_id: string;
  readonly member: string;
}

export interface PhaseTeam {
  readonly members: readonly Pick<TriadMember, 'name' | 'role'>[];
  readonly sections: readonly { readonly section_id: string }[];
}

export function checkPhaseStart(start: TypedStart, team: PhaseTeam): OutputFault[] {
  const claims = start.claims ?? [];
  const faults = checkPlace(start);
  for (const [i, claim] of claims.entries()) {
    const path = `claims[${i}]`;
    faults.push(
      ...checkSection(claim.section_id, `${path}.section_id`, team),
      ...checkOwner(claim.member, `${path}.member`, team),
    );
    const before = claims.findIndex((one) => isSameClaim(one, claim));
    if (before !== i) {
      const reason = `"${cutText(claim.member, 60)}" claims this section in claims[${before}] already`;
      faults.push({ path, reason, hint: 'Try: one claim with the whole proposal' });
    }
  }
  for (const [section, member] of Object.entries(start.owners ?? {})) {
    const path = `owners.${cutText(section, 60)}`;
    faults.push(...checkSection(section, path, team), ...checkOwner(member, path, team));
  }
  return faults;
}

function isSameClaim(one: Ownership, other: Ownership): boolean {
  return one.section_id === other.section_id && one.member === other.member;
}

function checkPlace({ phase, has_summary, claims, owners }: TypedStart): OutputFault[] {
  const faults: OutputFault[] = [];
  const refuse = (path: string, reason: string, hint: string): void => {
    faults.push({ path, reason, hint: `Try: ${hint}` });
  };
  if (has_summary && phase === 'deliberate') {
    refuse('summary', 'deliberate is the first phase: none before it', 'put it into the task');
  }
  if (claims !== undefined && phase !== 'negotiate') {
    refuse(
      'claims',
      `${phase} takes no claims, negotiate does`,
      '"phase":"negotiate", or no claims',
    );
  }
  if (owners !== undefined && phase !== 'execute') {
    refuse('owners', `${phase} takes no owners, execute does`, '"phase":"execute", or no owners');
  }
  return faults;
}

function checkSection(id: string, path: string, { sections }: PhaseTeam): OutputFault[] {
  const section_ids = sections.map(({ section_id }) => section_id);
  if (section_ids.includes(id)) return [];
  const reason = `there is no section "${cutText(id, 60)}"`;
  return [{ path, reason, hint: `Try: one of ${listNames(section_ids)}` }];
}

function checkOwner(name: string, path: string, { members }: PhaseTeam): OutputFault[] {
  const member = members.find((one) => one.name === name);
  if (member !== undefined && mayWrite(member.role)) return [];
  const reason =
    member === undefined
      ? `there is no member "${cutText(name, 60)}"`
      : `a ${member.role} owns no sections`;
  const owners = members.filter(({ role }) => mayWrite(role)).map((one) => one.name);
  return [{ path, reason, hint: `Try: one of ${listNames(owners)}` }];
}
