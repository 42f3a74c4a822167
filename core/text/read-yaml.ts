import { isNode, LineCounter, parseDocument, type Document, type YAMLError } from 'yaml';

/** Text as YAML, of which JSON is a part. */
export interface ReadYaml {
  readonly document: Document.Parsed;
  /** Empty for a good text. Behind a tab in an indentation there are no more: they follow from it. */
  readonly errors: readonly YAMLError[];
  /** Returns the place of an offset. Lines and columns count from 1. */
  readonly placeOf: (offset: number) => { readonly line: number; readonly col: number };
}

export function readYaml(text: string): ReadYaml {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const tab = document.errors.findIndex(isTabError);
  return {
    document,
    errors: tab === -1 ? document.errors : document.errors.slice(0, tab + 1),
    placeOf: (offset) => lineCounter.linePos(offset),
  };
}

/** Detects a tab in an indentation. */
export function isTabError({ code }: YAMLError): boolean {
  return code === 'TAB_AS_INDENT';
}

/** Returns a part of a document as plain JSON. @throws Error for an alias without an anchor, or that expands without end or contains itself. */
export function toJson(node: unknown, document: Document.Parsed): unknown {
  if (!isNode(node)) return node;
  const value: unknown = node.toJS(document, { maxAliasCount: 100 });
  try {
    JSON.stringify(value);
  } catch (error) {
    // The error shows the circle in several lines.
    throw new Error('An alias contains itself', { cause: error });
  }
  return value;
}
