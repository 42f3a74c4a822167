import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import { cleanLine, shareBytes } from '../../core/text/cut-text.ts';
import { countBytes } from '../text/bytes.ts';
import { loadDetailName } from '../tools/registry/load-detail.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine, textBlock } from '../text/blocks.ts';
import { cutAtSection } from './cut-at-section.ts';
import type { Task, Upstream } from './read-task.ts';

/** Maximum characters of a line for a criterion that an upstream output leaves unmet: statement and reason. */
const unmetCharsMax = 600;

/**
 * Renders the results that a delegation builds on. Those that its plan names come whole, in their order, as long as
 * they fit into one budget: no call is bought to load the subject of the task. The others come in their short form,
 * with instructions to load the rest.
 */
export function renderUpstream(
  { upstream }: Task,
  { allowed_tools }: Pick<AgentDefinition, 'allowed_tools'>,
): string {
  const whole = chooseWhole(upstream);
  const short = upstream.filter((one) => !whole.has(one));
  const needs = short.map(({ output }) =>
    Math.min(countBytes(output.compact_md.trimEnd()), blockBytesMax.upstream_compact),
  );
  const shares = shareBytes(needs, blockBytesMax.upstream_compacts);
  const shareOf = new Map(short.map((one, at) => [one, shares[at] ?? 0]));
  const mayLoad = allowed_tools.includes(loadDetailName);
  const unmet = upstream.map(listUnmet);
  const unmetShares = shareBytes(unmet.map(countBytes), blockBytesMax.upstream_unmet);
  const sections = upstream.map((one, at) => {
    const share = shareOf.get(one);
    const result =
      share === undefined
        ? `${nameResult(one)}, whole\n${one.whole.trimEnd()}`
        : renderShort(one, share, mayLoad);
    const open = cutAtLine(unmet[at] ?? '', unmetShares[at] ?? 0);
    return open === '' ? result : `${result}\n\n${open}`;
  });
  const text = sections.length > 0 ? sections.join('\n\n') : 'Your task depends on no other.';
  return textBlock('upstream_results', text, Infinity);
}

/** Chooses the results that come whole. One that does not fit leaves its room to those after it. */
function chooseWhole(upstream: readonly Upstream[]): ReadonlySet<Upstream> {
  const chosen = new Set<Upstream>();
  let left: number = blockBytesMax.direct_inputs;
  for (const one of upstream.filter(({ isDirect }) => isDirect)) {
    const bytes = countBytes(one.whole);
    if (bytes > left) continue;
    left -= bytes;
    chosen.add(one);
  }
  return chosen;
}

function renderShort(one: Upstream, bytesMax: number, mayLoad: boolean): string {
  const { delegation_id, output, whole } = one;
  const call = `${loadDetailName} ${JSON.stringify({ detail_id: delegation_id })}`;
  const more = mayLoad ? `All of it: ${call}.` : '';
  const compact = output.compact_md.trimEnd();
  const shown = cutAtSection(compact, bytesMax, more);
  // A text that was cut already says how to get the rest.
  const rest = mayLoad && shown === compact ? [`[${more}]`] : [];
  const size = countBytes(whole);
  return [`${nameResult(one)}, short form of ${size} bytes`, shown, ...rest].join('\n');
}

/** Lists each criterion that the output leaves unmet in one line, with the reason. Empty when it meets them all. */
function listUnmet({ criteria, output }: Upstream): string {
  return output.coverage.criteria_unmet
    .map(({ criterion_id, reason }) => {
      const criterion = criteria.find((one) => one.criterion_id === criterion_id);
      const what = criterion === undefined ? '' : ` (${criterion.description})`;
      return cleanLine(`Not met: ${criterion_id}${what}: ${reason}`, unmetCharsMax);
    })
    .join('\n');
}

/** Names a result. Evidence uses the same name (`agent-output.ts`). */
function nameResult({ delegation_id, title, names, replaces = [] }: Upstream): string {
  const also = names.length === 0 ? '' : ` (${names.join(', ')})`;
  const older = replaces.length === 0 ? '' : `, which replaces ${replaces.join(', ')}`;
  return `# Result of ${delegation_id}${also}${older}: ${title}`;
}
