/** The part of autocannon 8 that the load generator uses; the package brings no types. */
declare module "autocannon" {
  export interface Client {
    readonly setRequests: (requests: ReadonlyArray<{ readonly path: string }>) => void
  }
  export interface Options {
    readonly url: string
    readonly connections: number
    /** Seconds. */
    readonly duration: number
    readonly headers: Readonly<Record<string, string>>
    readonly setupClient: (client: Client) => void
  }
  export interface Result {
    readonly "2xx": number
    readonly non2xx: number
    /** Broken connections, timeouts included. */
    readonly errors: number
    /** Seconds. */
    readonly duration: number
  }
  export default function autocannon(options: Options): PromiseLike<Result>
}
