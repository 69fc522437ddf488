/** What the programs of this benchmark say to each other over Node's channel between processes. */

/**
 * Order to a server: publish `rate` messages a second for `seconds`; or say how much memory or CPU is used; or cut
 * every socket.
 */
export type ServerOrder =
  | { readonly do: "publish"; readonly rate: number; readonly seconds: number }
  | { readonly do: "memory" }
  | { readonly do: "cpu" }
  | { readonly do: "cut" }

export type ServerAnswer =
  | { readonly is: "ready"; readonly port: number; readonly path: string }
  | { readonly is: "published"; readonly count: number }
  /** CPU seconds since the process began. */
  | { readonly is: "cpu"; readonly seconds: number }
  /** Bytes: of the process, and of live objects. */
  | { readonly is: "memory"; readonly resident: number; readonly heap: number }
  | { readonly is: "cut" }

/**
 * Order to the clients: open sockets, of which every `readEvery`th reads its messages; count what comes until it is as
 * much as expected, or nothing has come for a while; break all sockets off and come back at once, each after what it
 * has seen; close.
 */
export type LoadOrder =
  | {
      readonly do: "open"
      readonly port: number
      readonly path: string
      readonly sockets: number
      readonly readEvery: number
    }
  | { readonly do: "count"; readonly expected: number }
  | { readonly do: "resume"; readonly port: number; readonly path: string }
  | { readonly do: "close" }

export interface Counted {
  readonly is: "counted"
  readonly messages: number
  /** Seconds from the first message to the last. */
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Sockets whose sequences have a hole or a repeat. */
  readonly broken: number
}

export interface Resumed {
  readonly is: "resumed"
  /**
   * Seconds from the break until every socket was open again, and until each had a message that was published after
   * that.
   */
  readonly openSeconds: number
  readonly steadySeconds: number
  /** Sockets whose sequences have a hole or a repeat. */
  readonly broken: number
}

export type LoadAnswer = { readonly is: "done" } | Counted | Resumed

/** Milliseconds since the epoch with fractions, the same in all processes of a machine. */
export const preciseNow = (): number => performance.timeOrigin + performance.now()
