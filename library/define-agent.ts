import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { RiskLevel } from '../contracts/agent-definition.ts';

const AgentOptions = z.strictObject({
  name: z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9-]{0,39}$/,
      'expected lower-case letters, digits and "-". Try: tax-expert',
    ),
  description: z.string().trim().min(1).max(4_000),
  prompt: z.string().trim().min(1).max(50_000),
  tools: z.array(z.string().min(1).max(64)).max(50).optional(),
  capabilities: z.array(z.string().min(1).max(120)).max(20).optional(),
  risk_level: RiskLevel.optional(),
  model: z.string().min(1).max(120).optional(),
});

/** An agent in code. Fields, units and defaults are those of an agent's file (docs/agents.md). */
export type AgentOptions = z.infer<typeof AgentOptions>;

/** An agent as its file. */
export interface Agent {
  readonly name: string;
  /** Markdown with front matter. */
  readonly text: string;
}

/**
 * Defines an agent that runs may use.
 *
 * @throws {TypeError} that names each wrong field
 */
export function defineAgent(options: AgentOptions): Agent {
  const read = AgentOptions.safeParse(options);
  if (!read.success) {
    throw new TypeError(`defineAgent: ${z.prettifyError(read.error)}`);
  }
  const { prompt, ...front } = read.data;
  return { name: front.name, text: `---\n${stringify(front)}---\n\n${prompt}\n` };
}

/**
 * Writes agents into a folder below the home, which every worker of this home may read. Equal agents share a folder.
 *
 * @returns the folder, absolute if `home` is
 */
export async function writeAgents(home: string, agents: readonly Agent[]): Promise<string> {
  const texts = agents.map(({ text }) => text).toSorted();
  const hash = createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 16);
  const folder = join(home, 'temporal', 'agents', hash);
  await mkdir(folder, { recursive: true });
  await Promise.all(agents.map(({ name, text }) => writeFile(join(folder, `${name}.md`), text)));
  return folder;
}

/** The answer of a run that ended does not fit the schema that was asked for. Nothing is lost: it holds the answer. */
export class UnfitAnswer extends Error {
  override readonly name = 'UnfitAnswer';
  /** Markdown, as the run returned it. */
  readonly answer: string;

  constructor(runId: string, answer: string, reason: string) {
    super(
      `The answer of run ${runId} does not fit the schema: ${reason}. Try: a simpler schema, or none`,
    );
    this.answer = answer;
  }
}

/** Describes to the planner that the answer is a JSON document of a schema. */
export function describeSchema(schema: z.ZodType): string {
  const text = JSON.stringify(z.toJSONSchema(schema, { io: 'input' }));
  return `The answer of the run is one JSON document in a fenced code block, without text around it, that fits this JSON Schema: ${text}`;
}

/**
 * Reads the JSON document of an answer: the whole text, or its only fenced code block.
 *
 * @throws {UnfitAnswer} with the first reason
 */
export function readAnswer<S extends z.ZodType>(
  runId: string,
  answer: string,
  schema: S,
): z.output<S> {
  const [, fenced = answer] = /```(?:json)?\s*\n([^]*?)\n\s*```/.exec(answer) ?? [];
  let value: unknown;
  try {
    value = JSON.parse(fenced);
  } catch {
    throw new UnfitAnswer(runId, answer, 'it is no JSON document');
  }
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new UnfitAnswer(runId, answer, z.prettifyError(read.error).replaceAll(/\s*\n\s*/g, ' '));
}
