/** A process of the project `fast` ends with jest, also when a test has left a server or a timer open. */
process.once('disconnect', () => process.exit());
