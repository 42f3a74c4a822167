/** Encrypts what the stores keep, and decrypts it again. */
export interface Cipher {
  /** False without keys: then nothing is encrypted. */
  readonly isOn: boolean;

  /**
   * Encrypts content. The same content and part give the same bytes, so that a text is stored once and a retry changes
   * nothing.
   *
   * @param part Part of the store that it belongs to; it can't be read from another one.
   */
  seal(plain: Uint8Array, part: string): Uint8Array;

  /** Returns true for content that `seal` has encrypted, with whichever key. */
  isSealed(content: Uint8Array): boolean;

  /**
   * Decrypts content. What is not encrypted is returned as it is.
   *
   * @throws Error when its key is not there, or when it does not belong to the part. The message has the cure.
   */
  open(content: Uint8Array, part: string): Uint8Array;
}
