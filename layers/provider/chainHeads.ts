/**
 * How far the endpoints of a chain are, by the blocks that their answers stand on. What is known of a chain does not go
 * back: an answer as of a block before one that was shown some seconds earlier, by whatever endpoint, is old, and the
 * endpoint that gave it is behind until it shows a newer one. One address is often many machines, so an endpoint is
 * held against what it has shown itself too. Where blocks say when they were made, one that is several seconds and
 * blocks younger makes the older one old at once.
 *
 * What nobody has shown again for two minutes is forgotten: a chain may have been taken back, or an endpoint may have
 * invented blocks. Times are monotonic nanoseconds.
 */

/** Endpoints that follow their chain differ by less than this; in blocks, where those come seldom. */
const toleranceSeconds = 3n
const toleranceNanos = toleranceSeconds * 1_000_000_000n
const toleranceBlocks = 1n
const rememberedNanos = 120_000_000_000n
/** Time for which an endpoint counts as behind after an old answer: it may be old in some of its answers alone. */
const behindForNanos = 10_000_000_000n
/** Blocks that are remembered with when they were shown first. */
const capacity = 64

interface ShownBlock {
  readonly block: bigint
  readonly first: bigint
  last: bigint
}

/** What an answer is held against: the block it stands on, and when it was requested. */
export interface JudgedAnswer {
  /** The endpoint's position among those of the chain. */
  readonly position: number
  readonly block: bigint
  readonly askedAt: bigint
  /** Seconds since 1970 of the block, where the answer says so. */
  readonly time?: bigint | undefined
  /** The first block that is new enough for whoever asked; none in particular when left out. */
  readonly notBefore?: bigint | undefined
}

/** The first block that would have been new enough for whoever asked, and for anybody. */
export interface Judgement {
  readonly least: bigint
  readonly minForAll: bigint
}

export interface EndpointHead {
  /** The block that it has shown last; null while it has shown none. */
  readonly block: bigint | null
  /** Blocks by which its last old answer was too old; 0 while it follows the chain. */
  readonly blocksBehind: bigint
}

interface SeenEndpoint {
  readonly block: bigint | null
  readonly at: bigint
  readonly blocksBehind: bigint
  readonly behindUntil: bigint
  /** True where in the last comparison another one was blocks ahead, for however short a time. */
  readonly isSlower: boolean
}

export class ChainHeads {
  /** Rising in both block and time. */
  private readonly shown: Array<ShownBlock> = []
  /** Blocks that counted for certain, as those of recorded receipts. */
  private certain: ShownBlock | undefined
  /** The latest of the blocks whose time is known. */
  private youngest: { readonly block: bigint; readonly time: bigint; readonly at: bigint } | undefined
  private readonly endpoints: Array<SeenEndpoint>

  constructor(endpoints: number) {
    this.endpoints = Array.from({ length: endpoints }, () => ({
      block: null,
      at: 0n,
      blocksBehind: 0n,
      behindUntil: 0n,
      isSlower: false
    }))
  }

  /** The first block that an answer may stand on that was requested then; 0 while nothing is known. */
  due(askedAt: bigint): bigint {
    const isDue = ({ first, last }: ShownBlock) =>
      first + toleranceNanos <= askedAt && last + rememberedNanos >= askedAt
    const { certain } = this
    const known = certain !== undefined && certain.last + rememberedNanos >= askedAt ? certain.block : 0n
    return this.shown.reduce((most, one) => (isDue(one) && one.block > most ? one.block : most), known)
  }

  /** Records what an endpoint has shown, and holds it against what was shown before. */
  judge({ askedAt, block, notBefore = 0n, position, time }: JudgedAnswer, now: bigint): Judgement {
    const due = this.due(askedAt)
    const minForAll = this.isOutdated(block, time, askedAt) ? this.youngest!.block : due
    const least = minForAll > notBefore ? minForAll : notBefore
    const before = this.endpoints[position]!
    this.endpoints[position] =
      block < least
        ? { ...before, block, at: now, blocksBehind: least - block, behindUntil: now + behindForNanos }
        : { ...before, block, at: now }
    this.remember(block, now)
    this.keepYoungest(block, time, now)
    if (notBefore > 0n && block >= notBefore && notBefore >= (this.certain?.block ?? 0n))
      this.certain = { block: notBefore, first: now, last: now }
    return { least, minForAll }
  }

  /** What all endpoints have shown, asked at one moment. */
  compare(answers: ReadonlyArray<JudgedAnswer>, now: bigint) {
    for (const { block, time } of answers) this.keepYoungest(block, time, now)
    const most = answers.reduce((highest, { block }) => (block > highest ? block : highest), 0n)
    for (const answer of answers) {
      const { block, position } = answer
      this.judge({ ...answer, askedAt: now }, now)
      this.endpoints[position] = { ...this.endpoints[position]!, isSlower: most - block > toleranceBlocks }
    }
  }

  /** Another endpoint has lately shown no later block either: the chain stands, and not the node. */
  isWitnessed(position: number, block: bigint, now: bigint): boolean {
    return this.endpoints.some(
      (other, at) => at !== position && other.block !== null && other.block <= block && other.at + rememberedNanos > now
    )
  }

  /** The block of an endpoint's answer is older than the pace of the chain allows. */
  fellBehind(position: number, now: bigint) {
    const before = this.endpoints[position]!
    const blocksBehind = before.blocksBehind > 0n ? before.blocksBehind : 1n
    this.endpoints[position] = { ...before, blocksBehind, behindUntil: now + behindForNanos }
  }

  heads(now: bigint): ReadonlyArray<EndpointHead> {
    return this.endpoints.map(({ block, blocksBehind }, position) => ({
      block,
      blocksBehind: this.isBehind(position, now) ? blocksBehind : 0n
    }))
  }

  /** How late it is asked: those that follow the chain first, those that are behind last. */
  rank(position: number, now: bigint): 0 | 1 | 2 {
    if (this.isBehind(position, now)) return 2
    return this.endpoints[position]!.isSlower ? 1 : 0
  }

  isBehind(position: number, now: bigint): boolean {
    return this.endpoints[position]!.behindUntil > now
  }

  private isOutdated(block: bigint, time: bigint | undefined, askedAt: bigint): boolean {
    const { youngest } = this
    if (time === undefined || youngest === undefined) return false
    if (youngest.at > askedAt || youngest.at + rememberedNanos < askedAt) return false
    return youngest.block - block > toleranceBlocks && youngest.time - time > toleranceSeconds
  }

  private keepYoungest(block: bigint, time: bigint | undefined, now: bigint) {
    const { youngest } = this
    if (time === undefined) return
    if (youngest === undefined || block >= youngest.block || youngest.at + rememberedNanos < now)
      this.youngest = { block, time, at: now }
  }

  private remember(block: bigint, now: bigint) {
    const { shown } = this
    for (const one of shown) if (one.block <= block) one.last = now
    while (shown.length > 0 && shown[0]!.last + rememberedNanos < now) shown.shift()
    // Of those that are due one is enough: the latest.
    while (shown.length > 1 && shown[1]!.first + toleranceNanos <= now && shown[1]!.last >= shown[0]!.last)
      shown.shift()
    const last = shown.at(-1)
    if (last !== undefined && last.block >= block) return
    if (shown.length >= capacity) shown.pop()
    shown.push({ block, first: now, last: now })
  }
}

/** Why an answer is not used, for people. */
export const oldReason = (block: bigint, least: bigint): string =>
  `its node is at block ${block}, and the chain was seen at block ${least}; nothing is read from it until it has that`

/** Reason by the time of the block. */
export const agedReason = (block: bigint, ageSeconds: bigint): string =>
  `block ${block}, the latest of its node, is ${ageSeconds} seconds old; nothing is read from it until it has a newer one`
