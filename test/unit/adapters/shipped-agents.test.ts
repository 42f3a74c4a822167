import { fileURLToPath } from 'node:url';
import { loadAgents } from '../../../activities/adapters/agent-files.ts';
import { partDesigners } from '../../../activities/run-record/load-registry.ts';
import { grantableNames } from '../../../activities/tools/registry/create-registry.ts';
import { internalAgentIds } from '../../../contracts/names.ts';

const agents = await loadAgents([fileURLToPath(new URL('../../../agents', import.meta.url))], {
  knownTools: grantableNames,
});

const withTool = (tool: string) =>
  agents.filter((one) => one.allowed_tools.includes(tool)).map((one) => one.agent_id);

describe('the shipped agents', () => {
  it('are the planner, six who do work, one who leads a team, the design group and the grader', () => {
    const { others, designers } = partDesigners(agents);
    expect(new Set(designers.map((agent) => agent.agent_id))).toEqual(new Set(internalAgentIds));
    expect(others.map((agent) => agent.agent_id)).toEqual([
      'analyst',
      'engineer',
      'leader',
      'planner',
      'researcher',
      'reviewer',
      'tester',
      'writer',
    ]);
  });

  it('the planner has no tools: it never does the work', () => {
    expect(agents.find((agent) => agent.agent_id === 'planner')?.allowed_tools).toEqual([]);
  });

  it('engineer and tester run commands, and the tester changes no file', () => {
    expect(withTool('run_command')).toEqual(['engineer', 'tester']);
    expect(withTool('edit_file')).toEqual(['engineer']);
  });

  it.each(agents.map((agent) => [agent.agent_id, agent] as const))('%s', (_id, agent) => {
    // They run on whatever model the run has.
    expect(agent.model).toBeNull();
    expect(agent.capabilities.length).toBeGreaterThan(0);
    expect(agent.description.length).toBeLessThan(300);
    expect(agent.prompt.length).toBeLessThan(3_000);
  });
});
