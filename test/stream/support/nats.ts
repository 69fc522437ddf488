/**
 * The NATS server of the tests (`TEST_NATS_URL`), and what a deployment of workers keeps there, read without the
 * service.
 */
import { jetstreamManager } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"

export const natsUrl = process.env["TEST_NATS_URL"] ?? "nats://127.0.0.1:4222"
const servers = natsUrl.replace(/^nats:\/\//u, "")

/** Whether there is one, with JetStream. */
export const hasNats: boolean = await connect({ servers, reconnect: false, timeout: 1_000 }).then(
  async (connection) => {
    const found = await jetstreamManager(connection).then(
      () => true,
      () => false
    )
    await connection.close()
    return found
  },
  () => false
)

let made = 0
/** A name under which nobody else keeps anything. */
export const freshPrefix = (): string => `test-${process.pid}-${Date.now()}-${(made += 1)}`

export interface StoredTick {
  readonly sequence: number
  readonly symbol: string
  readonly startMs: number
  /** Epoch of the lease under which it was written. */
  readonly epoch: number
}

/** Every event of a deployment, as JetStream has it. */
export const storedTicks = async (prefix: string): Promise<ReadonlyArray<StoredTick>> => {
  const connection = await connect({ servers })
  const manager = await jetstreamManager(connection)
  const { created, state } = await manager.streams.info(`${prefix}-market`)
  const found: Array<StoredTick> = []
  if (state.messages > 0) {
    const consumer = await manager.jetstream().consumers.get(`${prefix}-market`)
    for await (const message of await consumer.consume()) {
      const { epoch, tick } = message.json<{ epoch: number; tick: { symbol: string; data: { startMs: number } } }>()
      const sequence = Date.parse(created) * 1_000 + message.seq
      found.push({ sequence, symbol: tick.symbol, startMs: tick.data.startMs, epoch })
      if (message.seq >= state.last_seq) break
    }
  }
  await connection.close()
  return found
}

export const forgetDeployment = async (prefix: string): Promise<void> => {
  const connection = await connect({ servers })
  const manager = await jetstreamManager(connection)
  for (const name of [`${prefix}-market`, `KV_${prefix}-shared`, `KV_${prefix}-lease`]) {
    await manager.streams.delete(name).catch(() => false)
  }
  await connection.close()
}
