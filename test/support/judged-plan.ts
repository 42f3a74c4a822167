import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from './run-command.ts';
import type { Stage } from './stage.ts';

/** A plan of one task, whose verifier is a triad. */
const planOf = (instructions: string): string => `task_name: backup-facts
goal: The facts about three ways to keep backups.
summary: One list, judged by three agents.
max_parallel: 1
agents:
  - agent_name: fact_agent
    role: doer
    responsibility: Finds out what each way costs and risks.
    agent_id: researcher
  - agent_name: jury
    role: verifier
    responsibility: Judges every result together.
    agent_id: reviewer
    triad:
      type: dialectic
      reason: A wrong fact costs more than three calls.
      members:
        - { name: pro, role: proposer, agent_id: analyst }
        - { name: con, role: critic, agent_id: tester }
        - { name: syn, role: synthesizer, agent_id: reviewer }
tasks:
  - task_id: facts_1727539200
    title: List three ways
    agent: fact_agent
    instructions: ${instructions}
    outputs:
      - { path: agents/fact_agent/task_output/facts.md, format: Markdown }
    validation:
      verified_by: jury
      evidence:
        - { evidence_id: three-ways, description: The list has 3 rows. }
escalation:
  - Ask the user.
`;

/** Starts the run of a plan of one task, whose output the triad `pro`, `con` and `syn` judges. Returns its id. */
export async function runJudgedPlan(
  stage: Stage,
  id: string,
  instructions: string,
): Promise<string> {
  const path = join(stage.home, 'plan.yaml');
  writeFileSync(path, planOf(instructions));
  const { code, err } = await runCommand(stage, ['plan', 'run', path, '--id', id]);
  expect({ code, err }).toMatchObject({ code: 0 });
  return id;
}
