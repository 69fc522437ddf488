/**
 * The message storage of effect/cluster over `workflow_messages`: what fibers send, answer and look up at the same
 * moment shares a statement, and a run that sleeps is a message whose time has not come.
 *
 * What the service's runs do not need is refused: streams of replies, and interruption without a durable signal.
 */
import { Clock, DateTime, Duration, Effect, Layer, Option } from "effect"
import { ClusterError, type Envelope, MessageStorage, type Reply as ClusterReply, Snowflake } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import { batched } from "#domain/effects/batched.ts"
import { maxTries, pauseOf } from "#layers/engine/cluster/LocalRun.ts"
import { RunCalls } from "#layers/engine/cluster/RunCalls.ts"
import { supportedBy, type Claim, RunsInFlight } from "#layers/engine/cluster/RunsInFlight.ts"
import { makeMessageRows } from "#layers/sql/run/makeMessageRows.ts"
import type { ClaimedMessage, Known, Reply } from "#layers/sql/run/MessageRows.ts"

const { PersistenceError } = ClusterError
const { SaveResultEncoded } = MessageStorage

/** How often claims are searched for that this process holds without knowing of them. */
const betweenSweeps = Duration.toMillis("5 seconds")
const claimBatchSize = 256
/** Version of what is sent to entities that this process does not carry out. */
const firstVersion = 1

const refused = (what: string) => Effect.die(new Error(`${what} is not part of the run engine's messages`))

const shardOf = ({ shardId }: Envelope.PartialRequestEncoded["address"]) => `${shardId.group}:${shardId.id}`

const envelopeOf = (row: ClaimedMessage): Envelope.PartialRequestEncoded => {
  const [group, id] = row.shard.split(":") as [string, string]
  const { entityId, entityType, requestId, tag } = row
  const address = { shardId: { group, id: Number(id) }, entityType, entityId }
  return { _tag: "Request", requestId, address, tag, ...JSON.parse(row.envelope) }
}

const replyOf = ({ replyId, reply, requestId }: Known): Option.Option<ClusterReply.WithExitEncoded> =>
  replyId === null || reply === null
    ? Option.none()
    : Option.some({ _tag: "WithExit", id: replyId, requestId, exit: JSON.parse(reply) })

const isSuspended = ({ exit }: ClusterReply.WithExitEncoded) =>
  exit._tag === "Success" && (exit.value as { readonly _tag?: string } | null)?._tag === "Suspended"

/** The signal that ends a run, which the cluster reads whenever a run begins or is left. */
const interruptKey = /\/([^/]+)\/deferred\/Workflow\/InterruptSignal$/

/** Nothing may end a run but its own body: what could not even be read stays until an operator acts. */
const endOf = (claim: Claim, reply: ClusterReply.WithExitEncoded, now: DateTime.Utc): Reply["end"] => {
  if (!claim.isRun) return { _tag: "Finished" }
  if (reply.exit._tag === "Failure") return { _tag: "Suspended", cause: JSON.stringify(reply.exit.cause) }
  if (!isSuspended(reply)) return { _tag: "Finished" }
  return claim.run === undefined ? { _tag: "Waiting", until: now, isTransient: true } : pauseOf(claim.run, now)
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const runs = yield* RunsInFlight
  const calls = yield* RunCalls
  const snowflakes = yield* Snowflake.Generator
  const rows = makeMessageRows(sql)
  /** Shards that are new to this process, and those in which it may hold claims without knowing of them. */
  const newShards = new Set<string>()
  const doubtful = new Set<string>()
  /** Messages that this process had claimed in shards that it lost: no tries of their runs. */
  const lost = new Set<string>()
  let sweptAt = 0

  const insert = yield* batched(
    ({ key }) => key,
    (messages: Parameters<typeof rows.insert>[0]) =>
      Effect.map(rows.insert(messages), (inserted) => {
        calls.call(messages.map(({ shard }) => shard))
        return ({ requestId }: (typeof messages)[number]) => inserted.has(requestId)
      })
  )
  const find = yield* batched(
    (key) => key,
    (keys: ReadonlyArray<string>) =>
      Effect.map(rows.byKeys(keys), (found) => {
        const known = new Map(found.map((row) => [row.key, row]))
        return (key: string) => Option.fromUndefinedOr(known.get(key))
      })
  )
  const answer = yield* batched(
    ({ requestId }) => requestId,
    (replies: ReadonlyArray<Reply>) => Effect.as(rows.reply(replies), () => undefined)
  )
  const readReplies = yield* batched(
    (requestId) => requestId,
    (requestIds: ReadonlyArray<string>) =>
      Effect.map(rows.replies(requestIds), (found) => {
        const known = new Map(found.map((row) => [row.requestId, row]))
        return (requestId: string) => Option.flatMap(Option.fromUndefinedOr(known.get(requestId)), replyOf)
      })
  )

  const repliesFor = (requestIds: ReadonlyArray<string>) =>
    Effect.forEach(requestIds, readReplies, { concurrency: "unbounded" }).pipe(
      Effect.map((found) => found.flatMap(Option.toArray)),
      PersistenceError.refail
    )

  /** A process died of a run, or never came to its first step: an operator must act. */
  const suspend = (row: ClaimedMessage, at: DateTime.Utc) =>
    Effect.andThen(
      Effect.logError(`Run ${row.entityId} began ${maxTries} times without storing a step; it is suspended`),
      rows.reply([
        {
          requestId: row.requestId,
          generation: row.generation,
          replyId: String(snowflakes.nextUnsafe()),
          exit: '{"_tag":"Success","value":{"_tag":"Suspended"}}',
          at,
          end: { _tag: "Suspended", cause: `The run began ${maxTries} times without storing a step` }
        }
      ])
    )

  /**
   * Frees claims of shards that are new to this process, and those of its own that nothing works on: their answer was
   * lost with a connection, or the cluster has left them. What it has lost while it lived is no try of the run.
   */
  const sweep = Effect.fnUntraced(function* (shards: ReadonlyArray<string>, now: number) {
    const isTime = now - sweptAt >= betweenSweeps
    const taken = shards.filter((shard) => newShards.has(shard))
    const own = shards.filter((shard) => !newShards.has(shard) && (isTime || doubtful.has(shard)))
    for (const requestId of runs.outside(new Set(shards))) {
      runs.remove(requestId)
      lost.add(requestId)
    }
    const excused = [...lost]
    if (excused.length > 0) yield* rows.excuse(excused)
    for (const requestId of excused) lost.delete(requestId)
    for (const requestId of runs.left(new Set(own), yield* Clock.monotonicTimeNanos)) runs.remove(requestId)
    for (const shard of own) doubtful.delete(shard)
    // The process before may have died of the run; a claim of our own whose answer was lost never began.
    if (taken.length > 0) yield* rows.freeBeside(taken, runs.known(new Set(taken)), false)
    if (own.length > 0) yield* rows.freeBeside(own, runs.known(new Set(own)), true)
    for (const shard of taken) newShards.delete(shard)
    if (isTime) sweptAt = now
  })

  const claim = Effect.fnUntraced(function* (shards: ReadonlyArray<string>, now: number, limit: number) {
    calls.hold(shards)
    yield* sweep(shards, now)
    const at = DateTime.makeUnsafe(now)
    const scope = { shards, ...supportedBy(runs.versions), at }
    if (scope.entityTypes.length === 0) return []
    const most = Math.min(limit, claimBatchSize)
    const signals = yield* rows.claimSignals(scope, most)
    const free = Math.min(most, runs.free())
    const claimed = free === 0 ? [] : yield* rows.claimRuns(scope, free)
    const poisoned = claimed.filter(({ tries }) => tries > maxTries)
    yield* Effect.forEach(poisoned, (row) => suspend(row, at), { discard: true })
    const taken = [...signals, ...claimed.filter(({ tries }) => tries <= maxTries)]
    const since = yield* Clock.monotonicTimeNanos
    for (const row of taken) runs.add({ ...row, isRun: row.tag === "run", since, run: undefined, isLeft: false })
    return taken.map((row) => ({ envelope: envelopeOf(row), lastSentReply: Option.none() }))
  })

  /**
   * An entity that ends (it is idle, and a message may come at that very moment) interrupts what it works on, and
   * leaves it to whoever claims it next.
   */
  const leave = (requestId: string) => {
    const claim = runs.get(requestId)
    if (claim === undefined) return
    claim.isLeft = true
    doubtful.add(claim.shard)
  }

  /** Forgotten before it is given back, so that it may be claimed at once; what cannot be given back is swept. */
  const giveBack = (requestIds: ReadonlyArray<string>) =>
    Effect.suspend(() => {
      const claims = requestIds.flatMap((requestId) => runs.get(requestId) ?? [])
      for (const { requestId } of claims) runs.remove(requestId)
      return rows.giveBack(claims)
    }).pipe(PersistenceError.refail)

  const encoded: MessageStorage.Encoded = {
    saveEnvelope: Effect.fnUntraced(function* ({ deliverAt, envelope, primaryKey }) {
      if (envelope._tag !== "Request" || primaryKey === null) return yield* refused(`A message ${envelope._tag}`)
      const { address, headers, payload, requestId, sampled, spanId, tag, traceId } = envelope
      const isNew = yield* insert({
        requestId,
        key: primaryKey,
        shard: shardOf(address),
        entityType: address.entityType,
        entityId: address.entityId,
        tag,
        version: runs.versions.get(address.entityType)?.current ?? firstVersion,
        envelope: JSON.stringify({ payload, headers, traceId, spanId, sampled }),
        at: deliverAt === null ? yield* DateTime.now : DateTime.makeUnsafe(deliverAt)
      })
      if (isNew) return SaveResultEncoded.Success()
      const known = yield* find(primaryKey)
      return SaveResultEncoded.Duplicate({
        originalId: Snowflake.Snowflake(
          Option.match(known, { onNone: () => requestId, onSome: (row) => row.requestId })
        ),
        lastReceivedReply: Option.flatMap(known, replyOf)
      })
    }, PersistenceError.refail),

    saveReply: Effect.fnUntraced(function* (reply) {
      if (reply._tag !== "WithExit") return yield* refused("A stream of replies")
      const claim = runs.get(reply.requestId)
      if (claim === undefined) return
      const at = yield* DateTime.now
      const end = endOf(claim, reply, at)
      if (end._tag === "Suspended") yield* Effect.logError(`Run ${claim.entityId} is suspended: ${end.cause}`)
      const exit = JSON.stringify(reply.exit)
      yield* answer({ requestId: reply.requestId, generation: claim.generation, replyId: reply.id, exit, at, end })
      if (runs.get(reply.requestId) === claim) runs.remove(reply.requestId)
    }, PersistenceError.refail),

    clearReplies: Effect.fnUntraced(function* (requestId, options) {
      const expected = options?.expectedReplyId
      yield* rows.wake(String(requestId), expected === undefined ? null : String(expected), yield* DateTime.now)
    }, PersistenceError.refail),

    // A signal that came after the claim is a message of its own, which is delivered and wakes the run.
    requestIdForPrimaryKey: (key) =>
      Effect.suspend(() =>
        runs.ofExecution(interruptKey.exec(key)?.[1] ?? "")?.hasSignals === false ? Effect.succeedNone : find(key)
      ).pipe(Effect.map(Option.map((row) => Snowflake.Snowflake(row.requestId))), PersistenceError.refail),

    repliesFor,
    repliesForUnfiltered: repliesFor,

    unprocessedMessages: (shards, now, options) =>
      claim(shards, now, options?.limit ?? claimBatchSize).pipe(
        // What was claimed may be committed although its answer is lost.
        Effect.onError(() => Effect.sync(() => shards.forEach((shard) => doubtful.add(shard)))),
        PersistenceError.refail
      ),

    unprocessedMessagesById: (requestIds) =>
      rows.waiting(requestIds.map(String)).pipe(
        Effect.map((found) => found.map((row) => ({ envelope: envelopeOf(row), lastSentReply: Option.none() }))),
        PersistenceError.refail
      ),

    resetRequests: (requestIds) => giveBack(requestIds.map(String)),

    resetAddresses: (addresses) => {
      const wanted = new Set<string>(addresses.map(({ entityId }) => entityId))
      const shards = new Set(addresses.map(({ shardId }) => `${shardId.group}:${shardId.id}`))
      return giveBack(runs.known(shards).filter((requestId) => wanted.has(runs.get(requestId)!.entityId)))
    },

    clearAddress: ({ entityId, entityType }) =>
      rows.removeEntity(entityType, entityId).pipe(Effect.asVoid, PersistenceError.refail),

    // Done with the next claim, which the sharding cannot skip.
    resetShards: (shards) =>
      Effect.sync(() => {
        for (const requestId of runs.drop(new Set(shards))) lost.add(requestId)
        for (const shard of shards) newShards.add(shard)
      }),

    withTransaction: (effect) => sql.withTransaction(effect).pipe(Effect.catchIf(isSqlError, Effect.die))
  }
  const storage = yield* MessageStorage.makeEncoded(encoded)
  return MessageStorage.MessageStorage.of({
    ...storage,
    unregisterReplyHandler: (requestId, options) =>
      Effect.andThen(
        storage.unregisterReplyHandler(requestId, options),
        Effect.sync(() => leave(String(requestId)))
      )
  })
})

export const RunMessages = Layer.effect(MessageStorage.MessageStorage, make).pipe(
  Layer.provide(Snowflake.layerGenerator)
)
