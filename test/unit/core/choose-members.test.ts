import * as fc from 'fast-check';
import { checkTriad } from '../../../core/triad/check-triad.ts';
import { chooseMembers } from '../../../core/triad/roles.ts';
import { property } from './builders.ts';
import { TriadType } from '../../../contracts/triad.ts';

const agent = (agent_id: string) => ({ agent_id, allowed_tools: [], risk_level: 'low' }) as const;

const shipped = ['analyst', 'engineer', 'planner', 'researcher', 'reviewer', 'writer'];

it('CH1: whatever agents there are, the members are a triad that a plan may have', () => {
  const anyAgents = fc.uniqueArray(fc.constantFrom(...shipped, 'mine', 'yours'));
  fc.assert(
    fc.property(fc.constantFrom(...TriadType.options), anyAgents, (type, ids) => {
      const agents = ids.map(agent);
      const members = chooseMembers(type, agents);
      const hasExecutor = ids.some((id) => id !== 'planner');
      expect(members !== null).toBe(hasExecutor);
      if (members === null) return;
      const triad = { type, reason: '', members, sections: [{ section_id: 's' }] };
      expect(checkTriad(triad, { agents, models: [] }, '')).toEqual([]);
    }),
    property,
  );
});

it.each([
  ['hierarchical', ['orchestrator/analyst', 'worker-1/engineer', 'worker-2/researcher']],
  ['dialectic', ['proposer/analyst', 'critic/reviewer', 'synthesizer/writer']],
  ['consensus', ['peer-1/analyst', 'peer-2/engineer', 'peer-3/reviewer']],
] as const)('CH2: of the shipped agents, a %s triad is %j', (type, expected) => {
  const members = chooseMembers(type, shipped.map(agent)) ?? [];
  expect(members.map(({ name, agent_id }) => `${name}/${agent_id}`)).toEqual(expected);
});

it('CH2: who is missing is stood in for by the first agent', () => {
  const members = chooseMembers('dialectic', ['planner', 'mine', 'writer'].map(agent)) ?? [];
  expect(members.map(({ agent_id }) => agent_id)).toEqual(['mine', 'mine', 'writer']);
});
