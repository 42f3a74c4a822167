import { chooseAgent } from './choose-agent.ts';
import type { JsonObject } from '../json.ts';
import type { Prompt } from './prompt.ts';
import { readTriadMark } from './rehearsal-marks.ts';

/** A member before its agent is chosen. */
interface Seat {
  readonly name: string;
  readonly role: string;
  /** Words in the description of a fitting agent. */
  readonly words: readonly string[];
  readonly lens?: string;
}

interface Table {
  readonly seats: readonly Seat[];
  /** The name of the seat whose agent the delegation goes to, because it writes the output. */
  readonly writer: string;
}

const building = ['design', 'build', 'engineer', 'research'];
const checking = ['review', 'critique', 'check', 'error'];
const writing = ['writ', 'edit', 'document', 'text'];
const judging = ['analy', 'compar', 'judge', 'recommend'];

const tables: Readonly<Record<string, Table>> = {
  dialectic: {
    seats: [
      { name: 'proposer', role: 'proposer', words: building },
      { name: 'critic', role: 'critic', words: checking, lens: 'what could go wrong' },
      { name: 'synthesizer', role: 'synthesizer', words: writing },
    ],
    writer: 'synthesizer',
  },
  hierarchical: {
    seats: [
      { name: 'orchestrator', role: 'orchestrator', words: judging },
      { name: 'worker-1', role: 'worker', words: building },
      { name: 'worker-2', role: 'worker', words: writing },
    ],
    writer: 'worker-1',
  },
  consensus: {
    seats: [
      { name: 'peer-1', role: 'peer', words: judging, lens: 'what it costs' },
      { name: 'peer-2', role: 'peer', words: building, lens: 'how it is done' },
      { name: 'peer-3', role: 'peer', words: checking, lens: 'what could go wrong' },
    ],
    writer: 'peer-1',
  },
};

/** Fields of a delegation that three members do together; none of them when the goal asks for no triad, or the run allows none. */
export function planTriad(prompt: Prompt): JsonObject {
  const type = prompt.allowsTriads ? readTriadMark(prompt.goal) : null;
  const table = type === null ? undefined : tables[type];
  if (table === undefined) return {};
  const used = new Set<string>();
  const members = table.seats.map(({ words, ...seat }) => {
    const agent_id = chooseAgent(prompt.agents, words, used);
    used.add(agent_id);
    return { ...seat, agent_id };
  });
  return {
    agent_id: members.find(({ name }) => name === table.writer)?.agent_id,
    triad: { type, reason: 'Rehearsal: the goal asks for a triad by a mark.', members },
  };
}
