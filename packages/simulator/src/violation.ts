/** What a checker throws where it finds one. */
export class Violation extends Error {
  override readonly name = 'Violation';
}
