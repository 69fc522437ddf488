/** Reads little-endian fields one after another. Bytes that are missing are a `MalformedBytes`, never a silent zero. */

/** Bytes that do not have the form that they should have. */
export class MalformedBytes extends Error {
  override readonly name = "MalformedBytes"
}

export class ByteReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #what: string
  #at = 0

  /** `what` names the bytes in errors. */
  constructor(bytes: Uint8Array, what: string) {
    // A view of its own, since slices of a Buffer would share its memory.
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#what = what
  }

  /** Bytes that have not been read. */
  get left(): number {
    return this.#bytes.length - this.#at
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1))
  }

  /** A byte that is 0 or 1. */
  bool(): boolean {
    const byte = this.u8()
    if (byte > 1) throw new MalformedBytes(`${this.#what}: ${byte} is neither true nor false`)
    return byte === 1
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2), true)
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true)
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8), true)
  }

  bytes(length: number): Uint8Array {
    const start = this.#take(length)
    return this.#bytes.slice(start, start + length)
  }

  rest(): Uint8Array {
    return this.bytes(this.left)
  }

  /** Padding must be zero: bytes that are not read must not contain anything. */
  padding(length: number): void {
    if (this.bytes(length).some((byte) => byte !== 0)) {
      throw new MalformedBytes(`${this.#what}: padding before byte ${this.#at} is not zero`)
    }
  }

  /** Nothing may follow. */
  end(): void {
    if (this.left > 0) throw new MalformedBytes(`${this.#what}: ${this.left} bytes too many`)
  }

  #take(length: number): number {
    const start = this.#at
    if (length > this.left) {
      throw new MalformedBytes(`${this.#what}: ${length} bytes expected at ${start}, ${this.left} are left`)
    }
    this.#at += length
    return start
  }
}
