import type { Prompt } from '../../contracts/model-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { TeamSetup } from '../../contracts/team-run.ts';
import { ThreadHistory } from '../../contracts/thread.ts';
import { shareBytes } from '../../core/text/cut-text.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { countBytes } from '../tools/cut-bytes.ts';
import { readShape } from '../tools/read-artifact.ts';
import { delegateTaskToMember } from '../tools/state-tools/team-tools.ts';
import { blockBytesMax } from './block-limits.ts';
import { cutAtLine, jsonBlock, listBlock, textBlock } from './blocks.ts';
import { markData } from './mark-data.ts';
import { renderRole, renderShared, renderTask } from './packet-parts.ts';
import type { PromptReader } from './prompt-reader.ts';
import { renderUpstream } from './render-upstream.ts';
import { readTask } from './read-task.ts';
import { readTeamTexts } from './read-team-texts.ts';
import type { TeamTexts } from './read-team-texts.ts';
import type { Packet } from './render-delegation.ts';

const request =
  '<request kind="leader">\nLead your team: have your delegation done by its members, and give the output. Cover each of its acceptance criteria, with evidence for what is met.\n</request>';

type LeaderPrompt = Extract<Prompt, { kind: 'leader' }>;

/**
 * The first message of a team's leader (seed 002, phase 2.1): what any agent of the wave is told, its team, and what an
 * earlier run of the same thread left.
 *
 * What all leaders of the wave share comes first, as in a delegation.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function renderLeader(
  store: ArtifactStore,
  prompt: LeaderPrompt,
  { agent, registry_ref, callKey }: PromptReader,
): Promise<Packet> {
  const { setup, history_ref } = prompt;
  const task = await readTask(store, prompt);
  const texts = await readTeamTexts(store, registry_ref, task.delegation.team, setup);
  const own = [
    renderRole(agent),
    ...renderTeam(setup, texts),
    jsonBlock('allowed_tools', [...agent.allowed_tools, delegateTaskToMember.spec.name]),
    ...(await renderHistory(store, history_ref, callKey)),
    markData(renderUpstream(task, agent), callKey),
    renderTask(task.delegation),
  ];
  const waveKey = `${task.record.run_id} ${prompt.plan_ref}`;
  const shared = await renderShared(store, task.record, { request, waveKey });
  return { shared, own: own.join('\n\n') };
}

function renderTeam(setup: TeamSetup, { instructions, members }: TeamTexts): string[] {
  const descriptions = members.map(({ description }) => description.trim());
  const shares = shareBytes(descriptions.map(countBytes), blockBytesMax.member_descriptions);
  const entries = setup.members.map(({ member_id, kind, capabilities, priority, enabled }, at) => ({
    member_id,
    name: members[at]?.name ?? member_id,
    description: cutAtLine(descriptions[at] ?? '', shares[at] ?? 0),
    capabilities,
    kind,
    priority,
    enabled,
  }));
  return [
    jsonBlock('team', {
      team_id: setup.team_id,
      works: setup.allow_parallel ? 'at the same time' : 'one after the other',
      max_parallel: setup.allow_parallel ? setup.max_parallel : 1,
      max_delegations: setup.max_delegations,
      timeout: setup.timeout,
      member_timeout: setup.member_timeout,
    }),
    listBlock('members', entries, blockBytesMax.members),
    ...(instructions.trim() === ''
      ? []
      : [textBlock('team_instructions', instructions, blockBytesMax.team_instructions)]),
  ];
}

async function renderHistory(
  store: ArtifactStore,
  ref: Ref | null,
  callKey: string,
): Promise<string[]> {
  if (ref === null) return [];
  const { messages, delegations } = await readShape(
    store,
    ref,
    ThreadHistory,
    'what a thread holds',
  );
  const said = messages.map((message) => ({ ...message, text: cutPast(message.text) }));
  const done = delegations.map((one) => ({
    ...one,
    task: cutPast(one.task),
    result: cutPast(one.result),
  }));
  const blocks = [
    listBlock('thread_messages', said, blockBytesMax.thread_messages, 'last'),
    listBlock('past_delegations', done, blockBytesMax.past_delegations),
  ];
  return [markData(blocks.join('\n\n'), callKey)];
}

function cutPast(text: string): string {
  return cutAtLine(text, blockBytesMax.thread_text);
}
