export const commandLimits = {
  /** A command that names no time: the tests of a small project. */
  secondsDefault: 120,
  /** A build of a large project. A longer one belongs to a machine of its own. */
  secondsMax: 600,
  /** Output that is kept, in bytes. A command that prints more is killed: no reader follows it. */
  outputBytesMax: 1_000_000,
  /** Bytes of the beginning and of the end of the output that the model reads: 5,000 tokens, most of them the end. */
  shownHeadBytes: 4_000,
  shownTailBytes: 16_000,
  /** End of the output of a running command that is searched for secrets before its last line is shown, in bytes. */
  tailBytes: 8_192,
  /** Standard input, in characters: as much as a model writes in one reply. */
  stdinCharsMax: 100_000,
  /** Data of each process, in bytes. Address space is not limited, because Node reserves more than it uses. */
  memoryBytesMax: 2_147_483_648,
  /** Memory that the machine must keep for worker and server, in bytes. */
  memoryLeftBytesMin: 268_435_456,
  /** One file, in bytes. */
  fileBytesMax: 1_073_741_824,
  /** All files that a command writes, in bytes. */
  diskBytesMax: 4_294_967_296,
  /** Temporary files, which are in memory, in bytes. */
  temporaryBytesMax: 268_435_456,
  /** Processes at the same time: a test runner starts one per core. */
  processesMax: 512,
  openFilesMax: 4_096,
  /** Milliseconds between two looks at processes, disk and memory. */
  watchEveryMs: 250,
  /** Milliseconds for output that still comes after a command has ended. */
  outputWaitMs: 200,
} as const;
