import type { Delegation } from '../../contracts/delegation.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { Claim } from '../../contracts/spec.ts';
import { findSettled } from '../../core/spec/read-spec.ts';
import { shareBytes } from '../../core/text/cut-text.ts';
import { findPlannedText, listCarried, listSections } from '../../core/triad/roles.ts';
import type { HeardText, TurnBrief } from '../../contracts/state-call.ts';
import type { TriadPhase, TriadRole } from '../../contracts/triad.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { countBytes } from '../text/bytes.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine, jsonBlock, textBlock } from '../text/blocks.ts';
import { cutAtSection } from './cut-at-section.ts';
import { markData } from './mark-data.ts';

/**
 * Renders what a member is given for one turn: what its brief names, and nothing else of the others. Topology is kept here, by
 * what there is to read, not by asking for discretion.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function renderTurn(
  store: ArtifactStore,
  delegation: Delegation,
  brief: TurnBrief,
  callKey: string,
): Promise<string> {
  const { round, rounds_max, at_work, duties } = brief;
  const [instruction, heard, returned, spec, claims] = await Promise.all([
    renderInstruction(store, brief.instruction_ref),
    renderHeard(store, brief.heard),
    renderReturned(store, brief.returned),
    renderSpec(store, delegation, brief),
    renderClaims(store, brief.spec.claims),
  ]);
  const fromOthers = [...heard, ...returned, spec, ...claims].join('\n\n');
  return [
    jsonBlock('your_turn', {
      round,
      rounds_max,
      ...(at_work.length > 0 && { at_work }),
      duties,
    }),
    ...instruction.map((block) => markData(block, callKey)),
    markData(fromOthers, callKey),
  ].join('\n\n');
}

async function renderInstruction(store: ArtifactStore, ref: Ref | null): Promise<string[]> {
  if (ref === null) return [];
  return [textBlock('instruction', await store.getText(ref), blockBytesMax.instruction)];
}

async function renderHeard(store: ArtifactStore, heard: readonly HeardText[]): Promise<string[]> {
  if (heard.length === 0) return [];
  const texts = await readTexts(
    store,
    heard.map(({ said_ref }) => said_ref),
  );
  const shown = shorten(texts, blockBytesMax.heard, cutSaid);
  const sections = heard.map(
    ({ member, round }, at) => `# ${member}, round ${round}\n${shown[at] ?? ''}`,
  );
  return [textBlock('heard', sections.join('\n\n'), Infinity)];
}

async function renderReturned(
  store: ArtifactStore,
  returned: TurnBrief['returned'],
): Promise<string[]> {
  if (returned.length === 0) return [];
  const texts = await readTexts(
    store,
    returned.map(({ current_ref }) => current_ref),
  );
  const shown = shorten(texts, blockBytesMax.returned);
  const entries = returned.map(({ reason, current_ref }, at) => ({
    reason,
    current_text: current_ref === null ? null : shown[at],
  }));
  return [jsonBlock('returned', entries)];
}

async function renderSpec(
  store: ArtifactStore,
  delegation: Delegation,
  { spec }: TurnBrief,
): Promise<string> {
  // A section can be finished as agreed only with the proposal by which it has its owner.
  const agreed = spec.sections.map(({ section_id, text_ref }) => {
    const proposal_ref = findSettled(spec, section_id)?.proposal_ref ?? null;
    return proposal_ref === text_ref ? null : proposal_ref;
  });
  const [texts, proposals] = await Promise.all([
    readTexts(
      store,
      spec.sections.map(({ text_ref }) => text_ref),
    ),
    readTexts(store, agreed),
  ]);
  const whole = spec.sections.map(({ section_id, text_ref }, at) =>
    text_ref === null ? findPlannedText(delegation, section_id) : (texts[at] ?? ''),
  );
  const shown = shorten([...whole, ...proposals], blockBytesMax.spec);
  const planned = listSections(delegation);
  const criterionIds = delegation.acceptance_criteria.map(({ criterion_id }) => criterion_id);
  const sections = spec.sections.map(({ section_id, owner, status, version }, at) => ({
    section_id,
    criterion_ids: listCarried(
      planned.find((one) => one.section_id === section_id) ?? { section_id },
      criterionIds,
    ),
    owner,
    status,
    version,
    text: shown[at],
    ...(agreed[at] !== null && { agreed: shown[whole.length + at] }),
  }));
  return jsonBlock('spec', sections);
}

async function renderClaims(store: ArtifactStore, claims: readonly Claim[]): Promise<string[]> {
  const open = claims.filter(({ state }) => state === 'open');
  if (open.length === 0) return [];
  const said = open.flatMap(({ responses }) => responses);
  const [proposals, reasons] = await Promise.all([
    readTexts(
      store,
      open.map(({ proposal_ref }) => proposal_ref),
    ),
    readTexts(store, [
      ...open.map(({ dispute_ref }) => dispute_ref ?? null),
      ...said.map(({ reason_ref }) => reason_ref),
    ]),
  ]);
  const shownProposals = shorten(proposals, blockBytesMax.claims);
  const shownReasons = shorten(reasons, blockBytesMax.claim_reasons);
  const reasonOf = new Map(said.map((one, at) => [one, shownReasons[open.length + at]]));
  const entries = open.map(
    (
      {
        claim_id,
        section_id,
        member,
        about,
        write_later,
        dispute_ref,
        revision,
        revised_by,
        responses,
      },
      at,
    ) => ({
      claim_id,
      section_id,
      member,
      ...(about === 'output' && { disputes: 'the finished text' }),
      ...(dispute_ref !== undefined && { because: shownReasons[at] }),
      ...(write_later === true && { write_later }),
      revision,
      revised_by,
      proposal: shownProposals[at],
      responses: responses.map((response) => ({
        member: response.member,
        decision: response.decision,
        revision: response.revision,
        round: response.round,
        reason: reasonOf.get(response),
      })),
    }),
  );
  return [jsonBlock('claims', entries)];
}

/** Reads texts in their order; empty where there is none. */
function readTexts(store: ArtifactStore, refs: readonly (Ref | null)[]): Promise<string[]> {
  return Promise.all(refs.map(async (ref) => (ref === null ? '' : store.getText(ref))));
}

/** Shortens texts that share a limit, each to its share. */
function shorten(
  texts: readonly string[],
  bytesMax: number,
  cut: (text: string, bytes: number) => string = cutAtLine,
): string[] {
  const shares = shareBytes(texts.map(countBytes), bytesMax);
  return texts.map((text, at) => cut(text, shares[at] ?? 0));
}

function cutSaid(text: string, bytesMax: number): string {
  return cutAtSection(text.trimEnd(), bytesMax, '');
}

interface Part {
  /** The purpose of the role, in every phase. */
  readonly purpose: string;
  readonly phases: Readonly<Record<TriadPhase, string>>;
}

const aims: Readonly<Record<TriadPhase, string>> = {
  deliberate:
    'This phase is for finding out what the sections are to be. It ends with a claim on each: who takes it, and what is proposed.',
  negotiate:
    'This phase is for agreement. It ends with every claim settled, or kept as dissent after the last round. What all agree to becomes the text of its section.',
  execute:
    'This phase is for what is not written yet. It ends with the finished text of every section that has an owner, and one output. What was agreed as text is done already.',
};

/** Names blocks in words only: a tag stands only where its block stands. */
const parts: Readonly<Record<TriadRole, Part>> = {
  orchestrator: {
    purpose:
      'You direct two workers. They work when you assign them a turn, and see your instruction and the records, never your history or each other. You own no section and write none.',
    phases: {
      deliberate:
        'See to it that every section is claimed by the worker that suits it: register the claim for it, or assign it a turn to claim for itself. Assign both at once where their work does not depend on each other. Each result comes to you as it is there. When no section is unclaimed, assign nothing; the first worker then writes the summary.',
      negotiate:
        'The workers settle the claims among themselves; you have no say in it. Give out the rounds, for as long as a claim is open and a round is left: assign a turn to every worker that has not agreed to all of them, with what helps it to see the whole.',
      execute:
        'Read the sections that are done already, and have each owner finish the others: assign turns with what the owner has to know of the others. Read what comes back. Where a finished section contradicts another or what was agreed, open a negotiation on it, name both sides, and assign a turn to whoever has to answer; where it is only unfinished, assign its owner another turn. When all is done and fits together, assign nothing.',
    },
  },
  worker: {
    purpose:
      'You do what your orchestrator assigns, with care for the whole. You see its instruction and the records, and nothing of what the other worker said.',
    phases: {
      deliberate:
        'Follow your instruction: think the section through, and claim what you are to take or are the right one for.',
      negotiate:
        'Every open claim is put to you and to the other worker. Answer each, those of yours that the other revised included.',
      execute:
        'Finish the sections that you own, as it was agreed. Where a claim about a finished text is put to you, answer it: the disputed text itself changes only by REVISE; conceding to it, you may have to change one of yours that it contradicts.',
    },
  },
  proposer: {
    purpose:
      'You make the proposals that the others work on: definite enough to be judged, complete enough to be built.',
    phases: {
      deliberate:
        'Claim every section, each with its whole text, ready for the reader of the delegation. In a later round, claim what is still missing, with what the critic found in mind.',
      negotiate:
        'Others answer your claims. Where one of them was revised, answer the revision: is it still right, and better?',
      execute: 'Finish the sections that you own, as it was agreed.',
    },
  },
  critic: {
    purpose:
      'You find what is wrong before it is built. You claim nothing, write no section and no code.',
    phases: {
      deliberate:
        'Judge each proposal: what is wrong, missing, unproven or contradicts another one, where, and what would cure it. Say in a line what is sound. Try to break the central idea: what would have to be true for it to fail? The synthesizer reads your text.',
      negotiate:
        'Answer each claim. REVISE where a change of yours cures it; HOLD only where none would.',
      execute:
        'Judge the sections that your duties list under check, against what was agreed, the other sections and the acceptance criteria. A fault that has to be mended: open_negotiation on its section, and answer the claim by REVISE with the mended text. What is sound needs a line.',
    },
  },
  synthesizer: {
    purpose:
      'You bring proposal and critique together, and you write for all three what is handed on.',
    phases: {
      deliberate:
        'Read both. Where the critic is right, answer the claim of the proposer by REVISE, with the whole proposal and what cures it: so one text is negotiated, not two. Make no claim on a section that is claimed already. A proposal that is good as it stands is answered in the next phase. The summary, when it is your duty, names what was proposed and what stands against it, fairly to both.',
      negotiate:
        'You answer last. Where the two disagree, look for the proposal that both can agree to, and REVISE to it. The summary, when it is your duty, tells decisions and disputes by the records.',
      execute:
        'Finish the sections that you own. When the output is your duty, pass the sections on; they change no more. Say in compact_md what the critic found and nobody mended.',
    },
  },
  peer: {
    purpose:
      'You are one of three who have the same say. In the first round nobody knows what the others think, so that three views come of it and not one; from then on you read what they said in the round before.',
    phases: {
      deliberate:
        'Form a view of every section, and claim those that you would do best, each with its whole text. In later rounds, say where the others changed your mind, and claim what nobody has.',
      negotiate:
        'Every open claim is put to all three. Answer each by what it says. When all of you agree by the records, it is settled.',
      execute:
        'Finish the sections that you own, as it was agreed. When the summary or the output is your duty, write it for all three.',
    },
  },
};

/** Describes what a role is for, and what it does in this phase, for the member that has it. */
export function describePart({ phase, member }: Pick<TurnBrief, 'phase' | 'member'>): string {
  const { purpose, phases } = parts[member.role];
  return [purpose, aims[phase], phases[phase]].join('\n');
}
