import type { PhaseStart } from '../../contracts/activity-types.ts';
import type { SpecState } from '../../contracts/spec.ts';
import { openSpec } from '../../core/spec/read-spec.ts';
import { stepSpec } from '../../core/spec/step-spec.ts';
import { listNegotiators, mayWrite } from '../../core/triad/roles.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { SpecSection, TriadMember, TriadPhaseInput } from '../../contracts/triad.ts';

/** A complete triad: every member is set, and every section has a text. */
export interface SeatedTriad {
  readonly members: readonly TriadMember[];
  readonly sections: readonly SpecSection[];
}

/**
 * Prepares the start of a single phase: the spec as the phase before would have left it.
 *
 * @param input A checked input: its claims and owners fit the triad.
 * @throws {StoreUnavailable} when its texts can't be stored.
 */
export async function openPhaseStart(
  store: Pick<ArtifactStore, 'put'>,
  input: TriadPhaseInput,
  triad: SeatedTriad,
): Promise<PhaseStart> {
  const { phase, summary } = input;
  const opened = openSpec(
    triad.sections.map(({ section_id }) => section_id),
    listNegotiators(triad.members),
  );
  return {
    phase,
    spec: await prepareSpec(store, input, triad, opened),
    summary_ref: summary === undefined ? null : await store.put(summary),
  };
}

async function prepareSpec(
  store: Pick<ArtifactStore, 'put'>,
  { phase, claims, owners }: TriadPhaseInput,
  { members, sections }: SeatedTriad,
  opened: SpecState,
): Promise<SpecState> {
  const first = members.find(({ role }) => mayWrite(role))?.name ?? null;
  switch (phase) {
    case 'deliberate':
      return opened;
    case 'negotiate':
      return registerClaims(store, opened, claims ?? claimAll(first, sections));
    case 'execute': {
      const given = owners === undefined ? null : new Map(Object.entries(owners));
      return {
        ...opened,
        sections: opened.sections.map((section) => ({
          ...section,
          owner: given === null ? first : (given.get(section.section_id) ?? null),
        })),
      };
    }
  }
}

type TypedClaims = NonNullable<TriadPhaseInput['claims']>;

async function registerClaims(
  store: Pick<ArtifactStore, 'put'>,
  opened: SpecState,
  claims: TypedClaims,
): Promise<SpecState> {
  const refs = await Promise.all(claims.map(({ proposal }) => store.put(proposal)));
  return claims.reduce((spec, { section_id, member }, i) => {
    const proposal_ref = refs[i] ?? '';
    const event = {
      type: 'claim',
      member,
      registered_by: member,
      section_id,
      proposal_ref,
    } as const;
    return stepSpec(spec, event).state;
  }, opened);
}

/** Claims each section with the text of the spec. */
function claimAll(member: string | null, sections: readonly SpecSection[]): TypedClaims {
  if (member === null) return [];
  return sections.map(({ section_id, text }) => ({ section_id, member, proposal: text }));
}
