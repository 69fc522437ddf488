/** A standby that takes over by being promoted shows until when it has followed. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { LostCommits } from "#domain/operation/LostCommits.ts"
import * as Losses from "#layers/sql/operation/LostCommits.ts"
import { freePort } from "#sandbox/process/freePort.ts"
import { postgresServer, serverShell } from "#test/fault/support/PostgresServer.ts"

/** Follows `FROM` in the folder; once it runs, the last commit is made that it gets, and is answered. */
const followed = `
  pg_basebackup -h 127.0.0.1 -p "$FROM" -U postgres -D "$FOLDER" -R -X stream -c fast --no-sync
  pg_ctl -D "$FOLDER" -o "-p $PORT" -l "$FOLDER.log" -w start > /dev/null
  sleep 3
  psql -qAt -h 127.0.0.1 -p "$FROM" -U postgres -c "CREATE TABLE last (x int)"
  at=$(psql -qAt -h 127.0.0.1 -p "$FROM" -U postgres -c "SELECT (extract(epoch FROM now()) * 1000)::bigint")
  until psql -qAt -h 127.0.0.1 -p "$PORT" -U postgres -c "SELECT x FROM last" > /dev/null 2>&1; do sleep 0.1; done
  echo "$at"`

describe("a standby that was promoted", () => {
  if (postgresServer === undefined) {
    it.skip("skipped because initdb, postgres and pg_basebackup are not installed", () => {})
    return
  }
  const newServer = postgresServer

  it.live("may lack what was committed after the last commit that it replayed, which is after its own start", () =>
    Effect.gen(function* () {
      const server = yield* newServer
      const port = yield* freePort
      const environment = { FROM: `${server.port}`, PORT: `${port}`, FOLDER: `${server.folder}/standby` }
      const at = yield* Effect.acquireRelease(
        Effect.promise(() => serverShell(followed, environment)),
        () => Effect.promise(() => serverShell('pg_ctl -D "$FOLDER" -m immediate stop', environment))
      )
      const last = DateTime.makeUnsafe(Number(at.stdout))
      yield* server.crash
      yield* Effect.promise(() => serverShell('pg_ctl -D "$FOLDER" -w promote', environment))
      const url = `postgres://postgres@127.0.0.1:${port}/postgres`
      yield* Effect.gen(function* () {
        const { after } = yield* LostCommits
        const lost = Option.getOrThrow(yield* after(last))
        assert.closeTo(DateTime.toEpochMillis(lost), DateTime.toEpochMillis(last), 1_000)
        assert.deepStrictEqual(yield* after(DateTime.subtract(last, { hours: 1 })), Option.some(lost), "one loss")
        const skewed = yield* after(DateTime.add(lost, { seconds: 59 }))
        assert.isTrue(Option.isSome(skewed), "clocks may differ by a minute")
        assert.isTrue(Option.isNone(yield* after(DateTime.add(lost, { seconds: 61 }))))
      }).pipe(Effect.provide(Losses.layer.pipe(Layer.provide(databaseLayer(url)))))
    }).pipe(Effect.scoped)
  )
})
