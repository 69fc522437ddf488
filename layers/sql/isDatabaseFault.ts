/**
 * Whether an error is of the database and not of the statement: it was unreachable, had no connection left, was
 * shutting down, broke off a deadlock, could not commit. The same statement may succeed later.
 *
 * Only what the statement itself is to blame for is no fault: its syntax, a constraint, a value that does not fit.
 * Source: PostgreSQL, appendix "Error Codes" (classes of SQLSTATE).
 */
import { SqlError } from "effect/sql/SqlError"
import { RunMoved } from "#layers/sql/run/RunFence.ts"

/**
 * Feature not supported, cardinality, data, `WITH CHECK OPTION`: classes that the client gives no reason of their own.
 */
const classesOfStatements = new Set(["0A", "21", "22", "44"])

/** The SQLSTATE that the server gave; empty where no server answered. */
export const sqlStateOf = ({ reason: { cause } }: SqlError): string =>
  typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string" ? cause.code : ""

export const isDatabaseFault = (error: unknown): boolean => {
  if (!(error instanceof SqlError)) return false
  switch (error.reason._tag) {
    case "SqlSyntaxError":
    case "UniqueViolation":
    case "ConstraintError":
      return false
    case "UnknownError":
      return !classesOfStatements.has(sqlStateOf(error).slice(0, 2))
    default:
      return true
  }
}

/** A fault of the database, or a run that another process has by now: neither is a fault of what was being done. */
export const isTransientFault = (error: unknown): boolean => error instanceof RunMoved || isDatabaseFault(error)
