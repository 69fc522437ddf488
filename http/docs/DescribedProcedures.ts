/** The procedures in the published descriptions of v1. Filled where a program puts its routes together. */
import { Context, type Schema } from "effect"
import type { ErrorContract } from "#domain/errors/Errors.ts"
import type { RateTier } from "#domain/request/RateTier.ts"

/** A class of domain/errors/Errors.ts. */
export interface ProcedureError {
  readonly name: string
  readonly contract: ErrorContract
}

export interface DescribedProcedure {
  /** Its name, with dots. */
  readonly tag: string
  /** Undefined when it takes none. */
  readonly input: Schema.Top | undefined
  /** One value of a stream, when it answers one. */
  readonly output: Schema.Top
  readonly errors: ReadonlyArray<ProcedureError>
  /** May be called with GET too. */
  readonly isRead: boolean
  /** Input stands in `input` and nothing around output and error; else in `json`, and both inside `json`. */
  readonly isAction: boolean
  /** Answered as server-sent events. */
  readonly isStream: boolean
  readonly security: ReadonlyArray<"apiKey" | "session" | "operator">
  /** Tier in which its caller is counted; undefined where the address alone is. */
  readonly tier: RateTier | undefined
}

export const DescribedProcedures = Context.Reference<ReadonlyArray<DescribedProcedure>>(
  "ballast/http/docs/DescribedProcedures",
  { defaultValue: () => [] }
)
