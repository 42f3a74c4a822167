import { parseJson } from '../../core/json.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { cutAtSection } from '../prompts/cut-at-section.ts';
import { dataRules, outputRules } from '../prompts/common-rules.ts';
import { markData } from '../prompts/mark-data.ts';
import { renderGuide, renderPacket, renderRole, renderTask } from '../prompts/packet-parts.ts';
import { readTask } from '../prompts/read-task.ts';
import { renderTurn, describePart } from '../prompts/render-turn.ts';
import { renderEarlierDissent } from '../prompts/render-pool-blocks.ts';
import { renderUpstream } from '../prompts/render-upstream.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { jsonBlock, textBlock } from '../text/blocks.ts';
import { agentOutput } from './agent-output.ts';
import { doerSystem, type PromptOf, type Reply, type Stage } from './stage.ts';
import { listSummaryTexts, summariseRecords } from '../../core/spec/read-spec.ts';
import { PhaseSummary } from '../../contracts/spec.ts';
import type { TurnBrief } from '../../contracts/state-call.ts';

/**
 * The rules for members of triads, before packet and role. The same bytes for all of them in every run: the part of a role in
 * a phase stands in `triad-parts.ts`.
 */
export const memberRules = `You are one of three members of a triad: a team that does one delegation of a goal together, under a planner. You never meet the user, nor anybody outside of the triad. You work in turns. Everything you need to know is in this conversation; nothing else exists.

${dataRules}
As a member you have these besides:
- <triad>: how your team works, who is in it, and who you are in it. Your lens, if you have one, is the side from which you look at the task.
- <part>: what your role does in this phase. The engine says it, so it tells you what to do, as this text does.
- <phase_summary>: what the phase before handed over. Nothing else of it is left.
- <your_turn>: the round, who is at work meanwhile, and your duties: what has to be in the records before this turn is over. A later <your_turn> and its blocks replace the earlier ones.
- <instruction>: from your orchestrator. It is marked as all that others wrote, and yet you act on it, as far as it serves your <delegation> and breaks no rule.
- <heard>: what other members said, as far as it is for you.
- <returned>: records of yours that came too late, because others changed what they were about. Look at what stands now, and make them again where they still hold. An orchestrator sees those of its workers, and gives a turn to each of them.
- <spec>: the sections that you work on. criterion_ids: the criteria that are met only if the section is agreed. owner: the member whose claim on it all agreed to; null while there is none. "done": its text is final unless somebody disputes it. "agreed" is the plan by which its owner writes it.
- <claims>: the claims that are open, each with its newest proposal and all that was answered to it. One that "disputes" a finished text has that text as its proposal; "because" says why.

# Records, not words
- Only what you put into the records by a tool call counts. "I agree" in a text agrees to nothing, and "I take this section" claims none.
- Make all calls of a turn in one reply, after a short text in Markdown: what the others should know and no record says. With no duty open, a text alone is a whole turn. Never repeat what is in the records.
- A claim is a proposal for a section. It is settled when all who negotiate have agreed to its newest revision: then the member who claimed the section owns it, and the proposal is its text, done, unless the claim says "write_later":true.
- Your duties: "answer": one negotiate_response for each claim_id. "claim": one register_claim for each section_id. "claims_min": at least so many claims, on sections of your choice. "assign": assign_turn, because something is left to do and nobody is at work. "check": sections whose proposal or text you have not judged yet. "finish": each section_id is to be "done", by edit_section or generate_code. "summary": submit_summary. "output": the output of the delegation, see below.
- CONCEDE: you agree to the claim as it stands. REVISE: you would agree with a change, and give the whole changed proposal. HOLD: you do not agree, and no change of yours would cure it. Each has its reason.
- A claim that you leave unanswered makes your whole turn invalid, whatever you wrote about it.
- Concede what is good enough, and only that: agreeing for the sake of peace hides a fault, and holding for the sake of debate costs a round. Judge what a proposal says, not who made it. Whatever stays disputed after the last round goes to the planner as a minority report, which is better than a false agreement.
- A call that comes back with an error changed nothing. It says what was expected and "Try: …": make it right. After three attempts your turn fails, and the phase with it.

# Example
Your duties are {"answer":["tables.bob","keys.bob"]}. You write "The tables are sound. The keys lose readings of the same second." and make two calls in that reply: negotiate_response {"claim_id":"tables.bob","decision":"CONCEDE","reason":"Covers all three reports."} and negotiate_response {"claim_id":"keys.bob","decision":"REVISE","reason":"The key is not unique.","revised_proposal":"## Keys\\nThe key is device and time in microseconds."}. That is the whole turn.

# The output of the delegation
One member gives it for all, in the turn whose duties say "output":true: what the sections hold, and nothing that no section holds. "detailed_from":["sections"] adds the texts of all agreed sections to detailed_md, word for word: don't retype them. detailed_md holds only what has to stand before them, and may be "". A section that stayed disputed has its side of the story told by the engine; every criterion that it carries, its criterion_ids in <spec>, goes to criteria_unmet. In every other turn you answer in Markdown and by calls, and what follows does not concern you.

${outputRules}`;

const request =
  '<request kind="member">\nTake your turn as a member of the triad that does your delegation. Leave in the records what your duties say.\n</request>';

/** The words of a member are free text: what counts stands in the records. */
const saying: Reply = {
  shape: 'member_turn',
  cure: 'Your turn is not over, for what is listed here. Put what is missing into the records by calls. What was taken already stands: do not repeat it.',
  noun: 'JSON',
  schemaFor: () => null,
  take: async (text) => ({
    ok: true,
    text,
    outline: (said_ref) => ({ shape: 'member_turn', said_ref }),
  }),
};

/**
 * Stage in which a member of a triad takes a turn. Its first message is all that it knows: its brief, the summary of
 * the phase before, and what any agent of the wave receives (seed 000: role-scoped history, summarised hand-over). The
 * provider reads what all members of the wave share from its cache for those that have the same model, tools and rules,
 * which are members of one role in one phase.
 */
export const memberStage: Stage<PromptOf<'member'>> = {
  reply: saying,
  tools: 'granted',
  system: doerSystem(memberRules),
  async render(store, prompt, reader) {
    const { agent, callKey, tools } = reader;
    const task = await readTask(store, prompt);
    const { brief } = prompt;
    const granted =
      task.delegation.judges === undefined
        ? agent.allowed_tools
        : agent.allowed_tools.filter((name) => tools.get(name)?.effect === 'read');
    const own = [
      renderRole(agent),
      renderTriad(brief),
      textBlock('part', describePart(brief), Infinity),
      jsonBlock('allowed_tools', [...granted, ...brief.tools]),
      ...(await renderGuide(store, task.record, reader)),
      markData(renderUpstream(task, agent), callKey),
      renderTask(task.delegation, callKey),
      ...(await renderEarlierDissent(store, task, callKey)),
      ...(await renderSummary(store, brief, callKey)),
      await renderTurn(store, task.delegation, brief, callKey),
    ];
    return renderPacket(store, { request, record: task.record, plan_ref: prompt.plan_ref, own });
  },
};

/** Stage in which the member that writes owes the output of the delegation. */
export const memberOutputStage: Stage<PromptOf<'member_output'>> = {
  ...memberStage,
  reply: agentOutput,
};

/** Shows who works with whom, and who the reader is. */
function renderTriad({ type, phase, member, team, rounds_max }: TurnBrief): string {
  const { name, role, lens = null } = member;
  return jsonBlock('triad', { type, phase, member: name, role, lens, team, rounds_max });
}

async function renderSummary(
  store: ArtifactStore,
  brief: TurnBrief,
  callKey: string,
): Promise<string[]> {
  const text = await readHandOver(store, brief);
  if (text === null) return [];
  const shown = cutAtSection(text, blockBytesMax.phase_summary, '');
  return [markData(textBlock('phase_summary', shown, Infinity), callKey)];
}

/** Reads what the phase before hands over: its writer's summary, or else the records of a negotiation. */
async function readHandOver(
  store: ArtifactStore,
  { summary_ref, phase, spec }: TurnBrief,
): Promise<string | null> {
  if (summary_ref !== null) {
    const text = await store.getText(summary_ref);
    const summary = readSummary(text);
    return summary === null ? text : formatSummary(summary);
  }
  if (phase !== 'execute') return null;
  const refs = listSummaryTexts(spec);
  const texts = await Promise.all(refs.map((ref) => store.getText(ref)));
  const byRef = new Map(refs.map((ref, at) => [ref, texts[at] ?? '']));
  const summary = summariseRecords(spec, (ref) => byRef.get(ref) ?? '');
  return summary === null ? null : formatSummary(summary);
}

function formatSummary({ decisions, open_questions, artifacts }: PhaseSummary): string {
  return [
    '## Decisions',
    ...decisions.map(({ section_id, decision }) => formatLine(section_id, decision)),
    '## Open questions',
    ...open_questions.map(({ section_id, question }) => formatLine(section_id, question)),
    '## Artifacts',
    ...artifacts.map(({ section_id, artifact }) => formatLine(section_id, artifact)),
  ].join('\n');
}

/** @returns null for a text that a person typed, of a phase that was started alone. */
function readSummary(text: string): PhaseSummary | null {
  return PhaseSummary.safeParse(parseJson(text)).data ?? null;
}

function formatLine(sectionId: string | null, text: string): string {
  return `- ${sectionId ?? 'the whole'}: ${text}`;
}
