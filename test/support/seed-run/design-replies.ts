import type {
  DesignBrief,
  DesignCheckpoints,
  DesignFiles,
  DesignInstructions,
  DesignRoster,
  DesignSequence,
  PocIntegration,
  PocRecommendation,
} from '../../../contracts/design.ts';
import type { DesignStageName } from '../../../contracts/names.ts';
import type { Reply } from '../../../rehearsal/script.ts';

/** Design of the run: five doers, two verifiers, an architect, five tasks, and two proofs of concept before two of them. */
interface Drawn {
  readonly task: string;
  readonly agent: string;
  readonly title: string;
  readonly verifier: 'reviewer_agent' | 'tester_agent';
  readonly after: readonly string[];
  readonly output: string;
  readonly objective: string;
  readonly evidence: string;
}

const drawn: readonly Drawn[] = [
  {
    task: 'define_fields',
    agent: 'model_agent',
    title: 'Name the fields of an order',
    verifier: 'reviewer_agent',
    after: [],
    output: 'src/orders.js',
    objective: 'Export the names of the fields of an order, in the order of the columns.',
    evidence: 'src/orders.js exports a list of the three fields, and node --test ends with 0.',
  },
  {
    task: 'write_export',
    agent: 'export_agent',
    title: 'Write the export',
    verifier: 'tester_agent',
    after: ['define_fields'],
    output: 'src/export.js',
    objective: 'Write toCsv, with a test that quotes a comma.',
    evidence: 'node --test ends with 0, and one of its tests quotes a comma.',
  },
  {
    task: 'write_import',
    agent: 'import_agent',
    title: 'Write the import',
    verifier: 'tester_agent',
    after: ['define_fields', 'write_export'],
    output: 'src/import.js',
    objective: 'Write fromCsv, which splits each line at its commas, with a test.',
    evidence: 'node --test ends with 0, and one of its tests reads what was exported.',
  },
  {
    task: 'write_command',
    agent: 'command_agent',
    title: 'Write the command',
    verifier: 'tester_agent',
    after: ['write_export'],
    output: 'src/export-orders.js',
    objective: 'Write the program that prints orders as CSV.',
    evidence: 'The program ends with exit code 0 and prints three lines.',
  },
  {
    task: 'write_guide',
    agent: 'guide_agent',
    title: 'Write the guide',
    verifier: 'reviewer_agent',
    after: ['define_fields'],
    output: 'README.md',
    objective: 'Tell in README.md how the orders are exported.',
    evidence: 'README.md has a section "Export" with one example.',
  },
];

const javaScript = 'JavaScript module, Node 20';

const formatOf = (path: string): string => (path.endsWith('.md') ? 'Markdown' : javaScript);

const roster: DesignRoster = {
  agents: [
    ...drawn.map(({ agent, title }) => ({
      agent_name: agent,
      role: 'doer' as const,
      responsibility: `${title}.`,
      agent_id: 'engineer',
    })),
    {
      agent_name: 'reviewer_agent',
      role: 'verifier',
      responsibility: 'Reads what others wrote.',
      agent_id: 'reviewer',
    },
    {
      agent_name: 'tester_agent',
      role: 'verifier',
      responsibility: 'Looks at the tests of others.',
      agent_id: 'tester',
    },
    {
      agent_name: 'architect_agent',
      role: 'solution_architect',
      responsibility: 'Decides technology and architecture.',
      agent_id: 'analyst',
    },
  ],
  new_agents: [],
};

const brief: DesignBrief = {
  deliverables: ['An export, an import, a command and a guide.'],
  hand_offs: ['The fields pass from the model to export and import; tests show that they fit.'],
  failure_modes: ['A comma in a name breaks a line into too many cells.'],
  success_criteria: ['node --test ends with exit code 0 and has a test for each direction.'],
  technologies: ['CSV'],
  user_questions: [],
};

const sequencing: DesignSequence = {
  tasks: drawn.map(({ task, title, agent, objective, after }) => ({
    task,
    title,
    agent,
    purpose: objective,
    depends_on: [...after],
  })),
  max_parallel: 3,
};

const outputOf = (name: string): { readonly path: string; readonly format: string } => {
  const path = drawn.find(({ task }) => task === name)?.output ?? name;
  return { path, format: formatOf(path) };
};

const file_structure: DesignFiles = {
  tasks: drawn.map(({ task, after }) => ({
    task,
    inputs: after.map((from) => ({ ...outputOf(from), from })),
    outputs: [outputOf(task)],
  })),
};

const checkpoints: DesignCheckpoints = {
  tasks: drawn.map(({ task, verifier, evidence }) => ({
    task,
    verified_by: verifier,
    evidence: [{ evidence_id: task.replaceAll('_', '-'), description: evidence }],
  })),
  escalation: [
    'Questions of technology and architecture go to the solution architect.',
    'Requirements go to the user.',
  ],
};

const instructions: DesignInstructions = {
  tasks: drawn.map(({ task, objective, output }) => ({
    task,
    instructions: `## Objective\n${objective}\n\n## Context\nA shop keeps its orders in src/orders.js. They are to be exported as CSV and read again.\n\n## Steps\n1. Read the files.\n2. Change ${output}.\n3. Run node --test.\n\n## Out of scope\nAll other files but tests.`,
  })),
};

interface Proof {
  readonly task: string;
  readonly agent: string;
  readonly risk_id: string;
  readonly assumption: string;
  readonly success: string;
  readonly failure: string;
  readonly dependent: string;
}

const proofs: readonly Proof[] = [
  {
    task: 'try_split',
    agent: 'import_agent',
    risk_id: 'commas-in-names',
    assumption: 'Each line can be split at its commas.',
    success: 'The line of a customer with a comma has three cells.',
    failure: 'A line has more than three cells.',
    dependent: 'write_import',
  },
  {
    task: 'try_many',
    agent: 'export_agent',
    risk_id: 'many-orders',
    assumption: 'All orders fit into one text.',
    success: '100,000 orders are written as one text.',
    failure: 'The program ends with another exit code than 0.',
    dependent: 'write_export',
  },
];

function recommend(idOf: (task: string) => string): PocRecommendation {
  return {
    risks: proofs.map(({ risk_id, assumption }) => ({
      risk_id,
      assumption,
      likelihood: 'medium',
      impact: 'high',
      mitigation: 'An experiment shows it before code relies on it.',
    })),
    proofs_of_concept: proofs.map((proof) => ({
      risk_id: proof.risk_id,
      task: proof.task,
      title: `Try: ${proof.assumption}`,
      agent: proof.agent,
      verified_by: 'reviewer_agent',
      instructions: `## Objective\nFind out whether this holds: ${proof.assumption}\n\n## Steps\n1. Run one command that shows it.\n\n## Out of scope\nChanges of files.`,
      success_criteria: [proof.success],
      failure_criteria: [proof.failure],
      outputs: [{ path: `agents/${proof.agent}/task_output/${proof.task}.md`, format: 'Markdown' }],
      evidence: [
        {
          evidence_id: proof.task.replaceAll('_', '-'),
          description: 'The output quotes the last line of one command and its exit code.',
        },
      ],
      dependents: [idOf(proof.dependent)],
    })),
  };
}

function integrate(idOf: (task: string) => string): PocIntegration {
  return {
    positions: proofs.map(({ task, dependent }) => ({
      task,
      depends_on: [],
      before: [idOf(dependent)],
    })),
  };
}

/** Replies of the design until its approval; a stage that is not here is the rehearsal's own. */
export function replyToDesign(stage: string, idOf: (task: string) => string): Reply | null {
  const parts: Partial<Record<DesignStageName, unknown>> = {
    brief,
    roster,
    sequencing,
    file_structure,
    checkpoints,
    instructions,
    poc_recommendation: recommend(idOf),
    poc_integration: integrate(idOf),
  };
  const json = Object.entries(parts).find(([name]) => name === stage)?.[1];
  return json === undefined ? null : { json };
}
