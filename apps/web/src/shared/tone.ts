/** A tone picks the colour; the word beside it always says the same. */
export type Tone = 'quiet' | 'work' | 'wait' | 'again' | 'warn' | 'bad' | 'good';

export interface Word {
  text: string;
  tone: Tone;
}
