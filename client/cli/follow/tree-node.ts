/** A line of a tree and what stands below it. */
export interface TreeNode {
  readonly line: string;
  readonly children: readonly TreeNode[];
}

/** A tree as lines, with branches drawn before them. */
export function withBranches(nodes: readonly TreeNode[]): string[] {
  return nodes.flatMap(({ line, children }, index) => {
    const isLast = index === nodes.length - 1;
    const below = withBranches(children).map((one) => `${isLast ? '   ' : '│  '}${one}`);
    return [`${isLast ? '└─' : '├─'} ${line}`, ...below];
  });
}
