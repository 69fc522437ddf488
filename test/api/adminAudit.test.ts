/** What the log keeps of the admin routes. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { HttpApi } from "effect/http-api"
import { Admin } from "#http/admin/Admin.ts"
import { AdminAudit } from "#http/admin/AdminAudit.ts"
import { newStrategy, newTenant, setMirrorable } from "#test/api/support/actors.ts"
import { adminToken, Api, ApiWithLog } from "#test/api/support/Api.ts"

const log: Array<string> = []
const Recorder = Logger.layer([Logger.map(Logger.formatStructured, (line) => void log.push(JSON.stringify(line)))])

const linesOf = (correlationId: string | null) =>
  log.map((line) => JSON.parse(line)).filter(({ annotations }) => annotations.correlationId === correlationId)

layer(ApiWithLog.pipe(Layer.provide(Recorder)), { excludeTestServices: true })("audit of the admin routes", (it) => {
  it.effect("every route keeps one, and keeps it outermost", () =>
    Effect.sync(() => {
      const without: Array<string> = []
      HttpApi.reflect(Admin, {
        onGroup: () => {},
        onEndpoint: ({ endpoint, middleware }) => {
          if ([...middleware].at(-1)?.key !== AdminAudit.key) without.push(endpoint.path)
        }
      })
      assert.deepStrictEqual(without, [])
    })
  )

  it.effect("a call that is carried out, one that is refused and one without a token leave a line each", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const blueprintId = yield* newStrategy(yield* newTenant())
      const path = `/v1/admin/strategy-blueprints/${blueprintId}/mirrorable`
      const answers = [
        yield* setMirrorable(blueprintId, { canMirror: true }),
        yield* setMirrorable(blueprintId, { canMirror: "no" }),
        yield* call("PATCH", `${path}?token=${adminToken}`, { body: { canMirror: true } })
      ]
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 400, 401]
      )
      for (const { headers, status } of answers) {
        const [line, ...others] = linesOf(headers.get("x-correlation-id")).filter(
          ({ message }) => message === "Admin call"
        )
        assert.deepStrictEqual(others, [])
        assert.strictEqual(line.level, "INFO")
        const { address, correlationId: _, requestId, ...said } = line.annotations
        assert.deepStrictEqual(said, { action: "setMirrorable", method: "PATCH", path, status })
        assert.isString(address)
        assert.strictEqual(requestId, headers.get("x-request-id"))
      }
      assert.isTrue(log.every((line) => !line.includes(adminToken)))
    })
  )

  it.effect("the audit log has what was changed beside the call", () =>
    Effect.gen(function* () {
      const blueprintId = yield* newStrategy(yield* newTenant())
      yield* setMirrorable(blueprintId, { canMirror: true })
      const entries = log
        .map((line) => JSON.parse(line))
        .filter(({ annotations }) => annotations.blueprintId === blueprintId)
      assert.lengthOf(entries, 1)
      assert.deepInclude(entries[0].annotations, { blueprintId, canMirror: true, isPublic: true })
    })
  )
})
