import type { UpstreamOutput } from './delegation-run.ts';
import type { Ref } from './ref.ts';

/** Result of a tool call, as the model will read it. */
export interface ToolRead {
  readonly result_ref: Ref;
  readonly is_error: boolean;
  /** detail_ids that the call loaded. */
  readonly loaded_details: readonly string[];
}

/** Packet of a conversation: all that its tools may read besides the workspace. */
export interface ReadingScope {
  readonly record_ref: Ref;
  readonly upstream: readonly UpstreamOutput[];
  /** Number of details that the calls of the reply may load together, so that every detail can be recorded. */
  readonly loads_left: number;
  /** True when the workflow makes the calls that change something; otherwise they are refused with the others. */
  readonly acts: boolean;
}
