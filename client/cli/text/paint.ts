import { styleText } from 'node:util';

export type Tone = 'good' | 'bad' | 'attention' | 'quiet' | 'strong';

/** Colours a text, or leaves it as it is where there are no colours. */
export type Paint = (tone: Tone, text: string) => string;

const styles = {
  good: 'green',
  bad: 'red',
  attention: 'yellow',
  quiet: 'gray',
  strong: 'bold',
} as const satisfies Record<Tone, string>;

export function createPaint(colour: boolean): Paint {
  return (tone, text) => (colour ? styleText(styles[tone], text) : text);
}
