/** Which faults are the database's, and which the statement's. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AuthenticationError, ConnectionError, DeadlockError, SqlError, UnknownError } from "effect/sql/SqlError"
import { isDatabaseFault } from "#layers/sql/isDatabaseFault.ts"
import { eachDatabase } from "#test/support/database.ts"

const cause = new Error("it is so")
const withCode = (code: string) =>
  new SqlError({ reason: new UnknownError({ cause: Object.assign(new Error(), { code }) }) })

it.each([
  ["a lost connection", new SqlError({ reason: new ConnectionError({ cause }) })],
  ["a deadlock that was broken off", new SqlError({ reason: new DeadlockError({ cause }) })],
  ["a password that was changed", new SqlError({ reason: new AuthenticationError({ cause }) })],
  ["no connection to spare", withCode("53300")],
  ["a server that shuts down", withCode("57P01")],
  ["a server that starts", withCode("57P03")],
  ["a server that became a replica", withCode("25006")],
  ["a commit that was a rollback", new SqlError({ reason: new UnknownError({ cause }) })]
])("%s is a fault of the database", (_, error) => {
  assert.isTrue(isDatabaseFault(error))
})

it("an error of another kind is none", () => {
  assert.isFalse(isDatabaseFault(cause))
  assert.isFalse(isDatabaseFault(undefined))
})

eachDatabase("what a statement is to blame for", (it) => {
  it.effect.each([
    ["syntax", "SELEC 1"],
    ["a table that is not there", "SELECT 1 FROM nowhere"],
    ["a value that does not fit", "SELECT 'x'::int"],
    ["a division by zero", "SELECT 1 / 0"],
    ["more than one row", "SELECT (SELECT generate_series(1, 2))"],
    ["a null that is not allowed", "INSERT INTO workflow_steps (step) VALUES ('a')"]
  ] as const)("%s is no fault of the database", ([, statement]) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const error = yield* Effect.flip(sql.unsafe(statement))
      assert.isFalse(isDatabaseFault(error))
    })
  )
})
