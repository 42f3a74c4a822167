import { Worker } from 'node:worker_threads';

/** Maximum characters that are converted: conversion takes about a second for as many. */
const charsMax = 1_000_000;

export interface ConvertOptions {
  /** Default 5,000. */
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
}

export interface ConvertedPage {
  readonly title: string;
  readonly text_md: string;
}

/**
 * Converts HTML to Markdown in a thread of its own, with limits of memory and time: deep nesting takes a converter minutes, and
 * in this thread it would stop the worker.
 *
 * @throws Error when the page is too large, or can't be converted within the limits.
 */
export async function convertPage(
  html: string,
  { timeoutMs = 5_000, signal }: ConvertOptions,
): Promise<ConvertedPage> {
  if (html.length > charsMax) {
    throw new Error(`The page has ${html.length} characters; at most ${charsMax} are converted.`);
  }
  const thread = new Worker(new URL('./convert-thread.mjs', import.meta.url), {
    workerData: html,
    resourceLimits: { maxOldGenerationSizeMb: 256, stackSizeMb: 4 },
    env: {},
  });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    return await new Promise<ConvertedPage>((resolve, reject) => {
      limit.addEventListener('abort', () => reject(tooHard), { once: true });
      thread.once('message', resolve);
      thread.once('error', () => reject(tooHard));
      thread.once('exit', () => reject(tooHard));
    });
  } finally {
    await thread.terminate();
  }
}

const tooHard = new Error('The page could not be converted within the limits of time and memory.');
