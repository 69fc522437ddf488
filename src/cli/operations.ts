/**
 * The commands that say what happened: `operations list` and `operations show`, through the service's API with a
 * tenant's key.
 */
import { Console, Effect, Layer, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { FetchHttpClient } from "effect/http"
import { RpcClient } from "effect/rpc"
import { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import { OperationKind, OperationState } from "#domain/operation/Operation.ts"
import { makeClient } from "#http/client/client.ts"
import type { OperationDetail, OperationItem } from "#http/operation/OperationModel.ts"
import { layerProtocol } from "#rpc/client.ts"
import { ExecutionProcedures } from "#rpc/execution/Executions.ts"
import { AdminFailed } from "#src/cli/TenantAdmin.ts"
import { table } from "#src/cli/table.ts"
import { clientConfig } from "#src/Config.ts"

const json = Flag.Boolean("json").pipe(Flag.withDescription("Print JSON for machines"), Flag.withDefault(false))

const account = Effect.gen(function* () {
  const { apiKey, baseUrl } = yield* clientConfig
  if (apiKey === null)
    return yield* new AdminFailed({
      reason: "Set BALLAST_API_KEY to a key of the tenant with the scope portfolios:read"
    })
  return { apiKey, baseUrl }
})

const api = Effect.flatMap(account, makeClient).pipe(Effect.provide(FetchHttpClient.layer))

/** The procedure finds operations by their own id; it returns those of the key's tenant alone. */
const portfolioOf = Effect.fnUntraced(function* (operationId: OperationId) {
  const { apiKey, baseUrl } = yield* account
  const protocol = yield* Layer.build(layerProtocol({ baseUrl, token: apiKey }))
  const call = yield* Effect.provideContext(RpcClient.make(ExecutionProcedures, { flatten: true }), protocol)
  return (yield* call("v2.executions.get", { operationId })).portfolioId as PortfolioId
}, Effect.scoped)

const moment = (at: string): string => at.slice(0, 19).replace("T", " ")

const listText = (operations: ReadonlyArray<typeof OperationItem.Type>): string =>
  operations.length === 0
    ? "No operation fits; leave a filter out"
    : table(
        ["OPERATION", "PORTFOLIO", "KIND", "BY", "SUBMITTED (UTC)", "STATE", "OUTCOME", "WHY"],
        operations.map(({ error, kind, operationId, outcome, portfolioId, reason, state, submittedAt, trigger }) => [
          operationId,
          portfolioId,
          kind,
          trigger,
          moment(submittedAt),
          state,
          outcome ?? "-",
          error ?? reason ?? ""
        ])
      )

const list = Command.make(
  "list",
  {
    portfolioId: Flag.String("portfolio").pipe(
      Flag.withDescription("Only of this portfolio, pf_..."),
      Flag.withSchema(PortfolioId),
      Flag.optional
    ),
    state: Flag.Literals("state", OperationState.literals).pipe(
      Flag.withDescription("Only in this state"),
      Flag.optional
    ),
    kind: Flag.Literals("kind", OperationKind.literals).pipe(Flag.withDescription("Only of this kind"), Flag.optional),
    since: Flag.String("since").pipe(
      Flag.withDescription("Submitted then or later, in ISO 8601 such as 2026-03-01T00:00:00Z"),
      Flag.withSchema(Schema.DateTimeUtcFromString),
      Flag.optional
    ),
    limit: Flag.Int("limit").pipe(
      Flag.withDescription("How many, 1 to 200"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 200 }))),
      Flag.withDefault(20)
    ),
    json
  },
  Effect.fn(function* ({ json, limit, ...filters }) {
    const query = {
      limit,
      ...Option.match(filters.portfolioId, { onNone: () => ({}), onSome: (portfolioId) => ({ portfolioId }) }),
      ...Option.match(filters.state, { onNone: () => ({}), onSome: (state) => ({ state }) }),
      ...Option.match(filters.kind, { onNone: () => ({}), onSome: (kind) => ({ kind }) }),
      ...Option.match(filters.since, { onNone: () => ({}), onSome: (since) => ({ since }) })
    }
    const { data } = yield* (yield* api).operations.listOperations({ query })
    yield* Console.log(json ? JSON.stringify(data.operations, undefined, 2) : listText(data.operations))
  })
).pipe(Command.withDescription("List operations of the tenant, newest first, with what became of them"))

type Detail = typeof OperationDetail.Type
type Chain = NonNullable<Detail["result"]>["chains"][number]

const chainLines = ({ chainId, failure, skips, swaps, transactions, transfers }: Chain): ReadonlyArray<string> => [
  `Chain ${chainId}`,
  ...swaps.map(
    ({ buy, by, receivedRaw, sell, soldRaw }) =>
      `  swap      ${soldRaw} ${sell} for ${receivedRaw ?? "?"} ${buy} (${by})`
  ),
  ...transfers.map(
    ({ buy, receivedRaw, sell, sentRaw }) => `  transfer  ${sentRaw} ${sell}, ${receivedRaw ?? "?"} ${buy} arrived`
  ),
  ...transactions.map(
    ({ success, txHash, userOpHash }) =>
      `  sent      ${txHash}${userOpHash === null ? "" : ` with ${userOpHash}`}${success ? "" : ": moved nothing"}`
  ),
  ...skips.map(({ assetId, buy, code, reason, sell }) => {
    const subject = assetId ?? (sell === undefined ? "the chain" : `${sell} to ${buy ?? "?"}`)
    return `  skipped   ${code} ${subject}: ${reason}`
  }),
  ...(failure === null ? [] : [`  failed    ${failure}`])
]

const detailText = (operation: Detail): string => {
  const { error, kind, outcome, portfolioId, reason, result, state, submittedAt, trigger } = operation
  const why = error ?? reason
  return [
    `${kind} of ${portfolioId}, ${trigger}, submitted ${moment(submittedAt)} UTC`,
    `${state}${outcome === null ? "" : `, ${outcome}`}${why === null ? "" : `: ${why}`}`,
    ...(result === null ? [] : [`gas ${result.gasUsd ?? "?"} USD, trading ${result.tradingUsd ?? "?"} USD`]),
    ...(result?.chains ?? []).flatMap(chainLines)
  ].join("\n")
}

const show = Command.make(
  "show",
  {
    operationId: Argument.String("operationId").pipe(
      Argument.withDescription("Id of the operation, op_..."),
      Argument.withSchema(OperationId)
    ),
    portfolioId: Flag.String("portfolio").pipe(
      Flag.withDescription("Its portfolio, pf_...; found by the operation when left out"),
      Flag.withSchema(PortfolioId),
      Flag.optional
    ),
    json
  },
  Effect.fn(function* ({ json, operationId, ...given }) {
    const ballast = yield* api
    const portfolioId = Option.isSome(given.portfolioId) ? given.portfolioId.value : yield* portfolioOf(operationId)
    const { data } = yield* ballast.operations.getOperation({ params: { portfolioId, operationId } })
    yield* Console.log(json ? JSON.stringify(data, undefined, 2) : detailText(data))
  })
).pipe(Command.withDescription("Show what an operation did on each chain, and what it left undone"))

/** Reaches the service at BALLAST_URL with BALLAST_API_KEY, so it needs no database. */
export const operations = Command.make("operations").pipe(
  Command.withDescription("What was done for portfolios, and why not"),
  Command.withSubcommands([list, show])
)
