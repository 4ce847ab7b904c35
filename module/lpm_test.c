// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of lpm.c, in user space.  Run by "make -C module/test check".
 *
 * The slow obvious twin is an unordered list of prefixes, searched from one
 * end to the other.  Random operations go to both; keys come from small
 * universes, so that prefixes nest, meet again and vanish often.  Chunks are small, of
 * their own memory and filled with junk: the address sanitizer sees each access that
 * the trie does not own.  Copies share chunks as in chunks.c, so that a write that
 * was not foretold shows in another trie.
 */
#include <linux/errno.h>
#include <linux/types.h>
#include <string.h>

#include "lpm.h"
#include "test/tap.h"

struct entry {
	u8 key[16];
	u8 len;
	u16 value;
};

struct twin {
	struct entry *entry;
	u32 number;
};

/* Bits @start, @start + @stride, ... of the keys vary, @width of them. */
struct universe {
	const char *name;
	u8 bits;
	u8 start;
	u8 stride;
	u8 width;
};

static const struct universe universes[] = {
	{ "IPv4, first bits", 32, 0, 1, 5 },
	{ "IPv4, last bits", 32, 27, 1, 5 },
	{ "IPv4, middle", 32, 13, 1, 7 },
	{ "IPv4, scattered", 32, 1, 6, 6 },
	{ "IPv6, first bits", 128, 0, 1, 5 },
	{ "IPv6, last bits", 128, 123, 1, 5 },
	{ "IPv6, around bit 64", 128, 61, 1, 6 },
	{ "IPv6, scattered", 128, 3, 20, 7 },
};

/* Prefixes and addresses, the obvious way: bit by bit or byte by byte. */

static bool get_bit(const u8 *key, unsigned int pos)
{
	return key[pos / 8] >> (7 - pos % 8) & 1;
}

static void flip_bit(u8 *key, unsigned int pos)
{
	key[pos / 8] ^= 1 << (7 - pos % 8);
}

static void clear_from(u8 *key, unsigned int len)
{
	for (; len < 128; len++)
		if (get_bit(key, len))
			flip_bit(key, len);
}

static bool contains(const struct entry *entry, const u8 *key)
{
	u8 whole = entry->len / 8;
	u8 rest = entry->len % 8;
	u8 i;

	for (i = 0; i < whole; i++)
		if (entry->key[i] != key[i])
			return false;

	return !rest || (entry->key[i] ^ key[i]) >> (8 - rest) == 0;
}

static struct entry *twin_find(const struct twin *twin, const u8 *key, u8 len)
{
	u32 i;

	for (i = 0; i < twin->number; i++)
		if (twin->entry[i].len == len &&
		    !memcmp(twin->entry[i].key, key, 16))
			return &twin->entry[i];

	return NULL;
}

static const struct entry *twin_lookup(const struct twin *twin, const u8 *key)
{
	const struct entry *best = NULL;
	u32 i;

	for (i = 0; i < twin->number; i++)
		if (contains(&twin->entry[i], key) &&
		    (!best || twin->entry[i].len > best->len))
			best = &twin->entry[i];

	return best;
}

/* Memory, as a caller handles it. */

/* In the place that is not for a node. */
static u32 *refs(struct synq_lpm_node *chunk)
{
	return (u32 *)chunk;
}

static void *allocate(size_t size)
{
	void *memory = malloc(size ?: 1);

	if (!memory)
		abort();
	memset(memory, 0xa5, size);

	return memory;
}

static struct synq_lpm_node *new_chunk(void)
{
	struct synq_lpm_node *chunk = allocate(SYNQ_LPM_CHUNK * sizeof(*chunk));

	*refs(chunk) = 1;
	return chunk;
}

static void grow(struct synq_lpm *lpm, u32 more)
{
	u32 chunks = lpm->chunks + more;
	struct synq_lpm_node **chunk = allocate(chunks * sizeof(*chunk));

	if (lpm->chunks)
		memcpy(chunk, lpm->chunk, lpm->chunks * sizeof(*chunk));
	free(lpm->chunk);
	lpm->chunk = chunk;
	while (lpm->chunks < chunks)
		lpm->chunk[lpm->chunks++] = new_chunk();
}

static struct synq_lpm share(const struct synq_lpm *lpm)
{
	struct synq_lpm other = *lpm;
	u32 i;

	other.chunk = allocate(lpm->chunks * sizeof(*other.chunk));
	for (i = 0; i < lpm->chunks; i++) {
		other.chunk[i] = lpm->chunk[i];
		++*refs(other.chunk[i]);
	}

	return other;
}

static void own_chunk(struct synq_lpm_node **chunk)
{
	struct synq_lpm_node *shared = *chunk;

	if (*refs(shared) == 1)
		return;
	--*refs(shared);
	*chunk = new_chunk();
	memcpy(*chunk + 1, shared + 1,
	       (SYNQ_LPM_CHUNK - 1) * sizeof(**chunk));
}

/* What a change is said to write, and nothing else. */
static void own(struct synq_lpm *lpm, const u8 *key, u8 len)
{
	u32 number[SYNQ_LPM_TOUCHED], i;

	synq_lpm_touched(lpm, key, len, number);
	for (i = 0; i < SYNQ_LPM_TOUCHED; i++)
		if (number[i] && number[i] / SYNQ_LPM_CHUNK < lpm->chunks)
			own_chunk(&lpm->chunk[number[i] / SYNQ_LPM_CHUNK]);
}

static struct synq_lpm copy(const struct synq_lpm *lpm)
{
	struct synq_lpm other = share(lpm);
	u32 i;

	for (i = 0; i < other.chunks; i++)
		own_chunk(&other.chunk[i]);

	return other;
}

static void drop(struct synq_lpm *lpm)
{
	u32 i;

	for (i = 0; i < lpm->chunks; i++)
		if (!--*refs(lpm->chunk[i]))
			free(lpm->chunk[i]);
	free(lpm->chunk);
}

static bool is_same(const struct synq_lpm *a, const struct synq_lpm *b)
{
	u32 i;

	for (i = 0; i < a->chunks; i++)
		if (memcmp(a->chunk[i] + 1, b->chunk[i] + 1,
			   (SYNQ_LPM_CHUNK - 1) * sizeof(**a->chunk)))
			return false;

	return a->used == b->used && a->free == b->free &&
	       a->spare == b->spare && a->root == b->root &&
	       a->prefixes == b->prefixes;
}

static struct synq_lpm make(u8 bits, u32 nodes)
{
	struct synq_lpm lpm;

	memset(&lpm, 0xa5, sizeof(lpm));
	synq_lpm_init(&lpm, bits);
	grow(&lpm, (nodes + SYNQ_LPM_CHUNK - 2) / (SYNQ_LPM_CHUNK - 1));

	return lpm;
}

static const struct synq_lpm_node *node_at(const struct synq_lpm *lpm, u32 number)
{
	return &lpm->chunk[number / SYNQ_LPM_CHUNK][number % SYNQ_LPM_CHUNK];
}

/* Nodes ever taken. */
static u32 taken(const struct synq_lpm *lpm)
{
	return lpm->used - lpm->used / SYNQ_LPM_CHUNK;
}

static u32 room_in(const struct synq_lpm *lpm)
{
	return lpm->chunks * (SYNQ_LPM_CHUNK - 1) - taken(lpm) + lpm->spare;
}

/* The invariants that the top of lpm.c states. */

static bool check_subtree(const struct synq_lpm *lpm, u32 number, u32 *nodes,
			  u32 *values)
{
	const struct synq_lpm_node *child, *node;
	u8 rest[16];
	int side;

	check(number % SYNQ_LPM_CHUNK && number <= lpm->used, "%u", number);
	node = node_at(lpm, number);
	++*nodes;
	*values += !!node->value;
	check(node->len <= lpm->bits);
	check(node->value || (node->child[0] && node->child[1]),
	      "a node with neither value nor two children");

	memcpy(rest, node->key, 16);
	clear_from(rest, node->len);
	check(!memcmp(rest, node->key, 16), "bits after the prefix");

	for (side = 0; side < 2; side++) {
		if (!node->child[side])
			continue;
		check(node->child[side] <= lpm->used);
		child = node_at(lpm, node->child[side]);
		check(child->len > node->len);
		check(get_bit(child->key, node->len) == side);
		memcpy(rest, child->key, 16);
		clear_from(rest, node->len);
		check(!memcmp(rest, node->key, 16), "not inside the parent");
		if (!check_subtree(lpm, node->child[side], nodes, values))
			return false;
	}

	return true;
}

static bool check_lpm(const struct synq_lpm *lpm)
{
	u32 nodes = 0, values = 0, spare = 0;
	u32 next;

	if (lpm->root && !check_subtree(lpm, lpm->root, &nodes, &values))
		return false;
	check(values == lpm->prefixes);
	check(nodes <= 2 * lpm->prefixes, "%u nodes", nodes);

	for (next = lpm->free; next; next = node_at(lpm, next)->child[0]) {
		check(next % SYNQ_LPM_CHUNK && next <= lpm->used);
		check(!node_at(lpm, next)->value);
		check(++spare <= lpm->spare, "a free list without end");
	}
	check(spare == lpm->spare);
	check(!lpm->used || lpm->used < lpm->chunks * SYNQ_LPM_CHUNK);
	check(taken(lpm) - lpm->spare == nodes, "%u leaked",
	      taken(lpm) - lpm->spare - nodes);

	return true;
}

static bool check_walk(const struct synq_lpm *lpm, const struct twin *twin)
{
	const struct synq_lpm_node *node;
	const struct entry *entry;
	u32 cursor = 0, last = 0;
	u32 n = 0;

	while ((cursor = synq_lpm_walk(lpm, cursor, &node))) {
		check(cursor > last);
		last = cursor;
		entry = twin_find(twin, node->key, node->len);
		check(entry && entry->value == node->value);
		n++;
	}
	check(n == twin->number, "%u of %u", n, twin->number);
	check(n == lpm->prefixes);

	return true;
}

static bool check_lookup(const struct synq_lpm *lpm, const struct twin *twin,
			 const u8 *key)
{
	const struct entry *best = twin_lookup(twin, key);
	u8 exact[16], len = 0xa5;
	u8 *address = exact;
	u16 value;

	/* an IPv4 address is 4 bytes, and nothing after them may be read */
	if (lpm->bits == 32) {
		address = malloc(4);
		if (!address)
			abort();
	}
	memcpy(address, key, lpm->bits / 8);
	value = synq_lpm_lookup(lpm, address, &len);
	check(value == synq_lpm_lookup(lpm, address, NULL));
	if (address != exact)
		free(address);

	check(value == (best ? best->value : 0), "%u, should be %u", value,
	      best ? best->value : 0);
	check(len == (best ? best->len : 0), "/%u", len);

	return true;
}

/* Random operations on both. */

static void random_key(u8 *key, u8 bits)
{
	unsigned int i;

	memset(key, 0, 16);
	for (i = 0; i < bits / 8; i++)
		key[i] = tap_random();
}

static void pick_key(const struct universe *u, const u8 *base, u8 *key)
{
	unsigned int i;

	memcpy(key, base, 16);
	for (i = 0; i < u->width; i++)
		if (tap_below(2))
			flip_bit(key, u->start + i * u->stride);
	if (!tap_below(16))
		flip_bit(key, tap_below(u->bits));
}

static u8 pick_len(const struct universe *u)
{
	unsigned int len;

	if (!tap_below(8))
		return tap_below(u->bits + 1);

	len = u->start + tap_below(u->width + 1) * u->stride;

	return len > u->bits ? u->bits : len;
}

static bool insert(struct synq_lpm *lpm, struct twin *twin, const u8 *key, u8 len)
{
	struct entry *old = twin_find(twin, key, len);
	u16 value = 1 + tap_below(65535);
	bool replace = tap_below(2);
	int ret;

	if (!old && !synq_lpm_has_room(lpm) && tap_below(2))
		grow(lpm, 1 + tap_below(2));
	own(lpm, key, len);
	ret = synq_lpm_insert(lpm, key, len, value, replace);
	if (ret == -ENOSPC) {
		check(!old && !synq_lpm_has_room(lpm));
		grow(lpm, 1);
		own(lpm, key, len);
		ret = synq_lpm_insert(lpm, key, len, value, replace);
	}
	check(ret == (old && !replace ? -EEXIST : 0), "%d", ret);
	if (ret)
		return true;

	if (!old) {
		old = &twin->entry[twin->number++];
		memcpy(old->key, key, 16);
		old->len = len;
	}
	old->value = value;

	return true;
}

static bool withdraw(struct synq_lpm *lpm, struct twin *twin, const u8 *key,
		     u8 len)
{
	struct entry *old = twin_find(twin, key, len);
	int ret;

	own(lpm, key, len);
	ret = synq_lpm_remove(lpm, key, len);
	check(ret == (old ? 0 : -ENOENT), "%d", ret);
	if (old)
		*old = twin->entry[--twin->number];

	return true;
}

/* Alternately fills and drains, and changes a copy now and then. */
static bool operate(const struct universe *u, struct synq_lpm *lpm,
		    struct twin *twin, const u8 *base, u32 op, u32 limit)
{
	const struct entry *entry;
	bool filling = op >> 10 & 1;
	u8 key[16];
	u8 len;

	pick_key(u, base, key);
	len = pick_len(u);
	clear_from(key, len);

	if (twin->number < limit && tap_below(8) < (filling ? 6 : 2))
		return insert(lpm, twin, key, len);

	if (twin->number && tap_below(2)) {
		entry = &twin->entry[tap_below(twin->number)];
		memcpy(key, entry->key, 16);
		len = entry->len;
	}

	return withdraw(lpm, twin, key, len);
}

static bool check_get(const struct universe *u, const struct synq_lpm *lpm,
		      const struct twin *twin, const u8 *key)
{
	const struct entry *entry;
	u8 len = pick_len(u);
	u8 prefix[16];

	/* as it is: with bits after the prefix there is no such prefix */
	entry = twin_find(twin, key, len);
	check(synq_lpm_get(lpm, key, len) == (entry ? entry->value : 0));

	memcpy(prefix, key, 16);
	clear_from(prefix, len);
	entry = twin_find(twin, prefix, len);
	check(synq_lpm_get(lpm, prefix, len) == (entry ? entry->value : 0));

	return true;
}

static bool run_universe(const struct universe *u, u32 ops)
{
	const u32 limit = 96;
	struct entry entries[96];
	struct twin twin = { entries, 0 };
	struct synq_lpm lpm = make(u->bits, 0);
	struct synq_lpm old;
	u32 full = 0, empty = 0;
	u8 base[16], key[16];
	u32 op;

	random_key(base, u->bits);
	for (op = 0; op < ops; op++) {
		/* a new trie is made from a copy; the old one stays as it is */
		if (op % 4096 == 0) {
			old = lpm;
			lpm = copy(&old);
			drop(&old);
		}
		check(operate(u, &lpm, &twin, base, op, limit));
		pick_key(u, base, key);
		check(check_lookup(&lpm, &twin, key));
		check(check_get(u, &lpm, &twin, key));
		if (twin.number < 8 || op % 32 == 0)
			check(check_lpm(&lpm));
		if (op % 256 == 0)
			check(check_walk(&lpm, &twin));
		full += twin.number > 24;
		empty += !twin.number;
	}
	check(full, "the test never fills the trie");
	check(empty, "the test never empties the trie");
	while (twin.number)
		check(withdraw(&lpm, &twin, entries[0].key, entries[0].len));
	check(check_lpm(&lpm));
	check(!lpm.root && lpm.spare == taken(&lpm) && !lpm.prefixes);
	drop(&lpm);

	return true;
}

static bool test_random(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(universes); i++)
		if (!run_universe(&universes[i], 400000)) {
			printf("# in: %s\n", universes[i].name);
			return false;
		}

	return true;
}

static bool test_empty(void)
{
	const struct synq_lpm_node *node = NULL;
	u8 key[16] = { 10, 1, 2, 3 };
	struct synq_lpm lpm;
	u8 len = 7;
	u8 bits;

	for (bits = 32; bits <= 128; bits += 96) {
		synq_lpm_init(&lpm, bits);
		check(!synq_lpm_has_room(&lpm));
		check(synq_lpm_insert(&lpm, key, 32, 1, false) == -ENOSPC);
		check(synq_lpm_remove(&lpm, key, 32) == -ENOENT);
		check(!synq_lpm_get(&lpm, key, 32));
		check(!synq_lpm_lookup(&lpm, key, &len) && len == 0);
		check(!synq_lpm_walk(&lpm, 0, &node) && !node);
	}

	return true;
}

static bool test_refused(void)
{
	static const u8 key[16] = { 10, 1, 0, 0 };
	struct synq_lpm lpm;
	u8 bits;

	for (bits = 32; bits <= 128; bits += 96) {
		lpm = make(bits, 8);
		check(synq_lpm_insert(&lpm, key, 15, 1, false) == -EINVAL);
		check(synq_lpm_insert(&lpm, key, 0, 1, false) == -EINVAL);
		check(synq_lpm_insert(&lpm, key, 16, 0, false) == -EINVAL);
		check(synq_lpm_insert(&lpm, key, bits + 1, 1, false) == -EINVAL);
		check(synq_lpm_insert(&lpm, key, 255, 1, true) == -EINVAL);
		check(!lpm.root && !lpm.used);

		check(!synq_lpm_insert(&lpm, key, 16, 1, true));
		check(synq_lpm_insert(&lpm, key, 16, 2, false) == -EEXIST);
		check(synq_lpm_get(&lpm, key, 16) == 1);
		check(!synq_lpm_insert(&lpm, key, 16, 2, true));
		check(synq_lpm_get(&lpm, key, 16) == 2);
		check(!synq_lpm_insert(&lpm, key, bits, 3, false));
		check(!synq_lpm_get(&lpm, key, bits + 1));
		check(!synq_lpm_get(&lpm, key, 255));
		check(synq_lpm_remove(&lpm, key, bits + 1) == -ENOENT);
		check(synq_lpm_remove(&lpm, key, 15) == -ENOENT);
		check(check_lpm(&lpm) && lpm.prefixes == 2);
		drop(&lpm);
	}

	return true;
}

/* The last bit of lo word, both bits next to the middle, the whole and none. */
static bool test_edges(void)
{
	static const u8 lens[] = { 0, 1, 31, 32, 33, 63, 64, 65, 127, 128 };
	struct entry entries[2 * ARRAY_SIZE(lens)];
	struct twin twin = { entries, 0 };
	struct synq_lpm lpm;
	u8 key[16];
	u8 bits, byte;
	unsigned int i, j;

	for (bits = 32; bits <= 128; bits += 96) {
		lpm = make(bits, 0);
		twin.number = 0;
		for (i = 0; i < 2 * ARRAY_SIZE(lens); i++) {
			byte = i % 2 ? 0xff : 0;
			if (lens[i / 2] > bits)
				break;
			memset(key, byte, 16);
			clear_from(key, lens[i / 2]);
			check(insert(&lpm, &twin, key, lens[i / 2]));
			check(check_lpm(&lpm));
		}
		for (i = 0; i < 4; i++) {
			for (j = 0; j < bits; j++) {
				memset(key, i % 2 ? 0xff : 0, 16);
				flip_bit(key, j);
				clear_from(key, bits);
				check(check_lookup(&lpm, &twin, key));
			}
		}
		drop(&lpm);
	}

	return true;
}

/* One prefix of every length inside each other, taken out in random order. */
static bool test_nested(void)
{
	struct entry entries[129];
	struct twin twin = { entries, 0 };
	struct synq_lpm lpm;
	u8 key[16], prefix[16];
	unsigned int len;
	u8 bits;

	for (bits = 32; bits <= 128; bits += 96) {
		lpm = make(bits, bits + 1);
		random_key(key, bits);
		for (len = 0; len <= bits; len++) {
			memcpy(prefix, key, 16);
			clear_from(prefix, len);
			check(insert(&lpm, &twin, prefix, len));
		}
		check(check_lpm(&lpm));
		check(taken(&lpm) == bits + 1u, "nodes that part nothing");
		while (twin.number) {
			struct entry e = entries[tap_below(twin.number)];

			check(check_lookup(&lpm, &twin, key));
			memcpy(prefix, key, 16);
			flip_bit(prefix, tap_below(bits));
			check(check_lookup(&lpm, &twin, prefix));
			check(withdraw(&lpm, &twin, e.key, e.len));
			check(check_lpm(&lpm));
		}
		check(!lpm.root);
		drop(&lpm);
	}

	return true;
}

/* Full chunks refuse and nothing changes; a place freed is a place taken. */
static bool test_full(void)
{
	struct synq_lpm lpm, before, larger;
	struct entry entries[64];
	struct twin twin;
	u8 key[16];
	u32 round, room, n;
	u8 len;
	int ret;

	for (round = 0; round < 20000; round++) {
		lpm = make(32, tap_below(24));
		twin = (struct twin) { entries, 0 };
		for (n = 0; n < 60; n++) {
			random_key(key, 32);
			key[1] &= 0x80;
			key[0] &= 0xc3;
			len = tap_below(10);
			clear_from(key, len);
			room = room_in(&lpm);
			check(synq_lpm_has_room(&lpm) == (room >= 2));
			if (twin.number && !tap_below(4)) {
				struct entry e = entries[tap_below(twin.number)];

				check(withdraw(&lpm, &twin, e.key, e.len));
				continue;
			}
			if (twin_find(&twin, key, len))
				continue;
			before = copy(&lpm);
			ret = synq_lpm_insert(&lpm, key, len, n + 1, false);
			if (!ret) {
				memcpy(entries[twin.number].key, key, 16);
				entries[twin.number].len = len;
				entries[twin.number++].value = n + 1;
			} else {
				check(ret == -ENOSPC && room < 2);
				check(is_same(&lpm, &before));
				larger = copy(&lpm);
				grow(&larger, 1);
				check(!synq_lpm_insert(&larger, key, len, 1,
						       false));
				check(taken(&larger) - larger.spare -
				      (taken(&lpm) - lpm.spare) > room,
				      "refused what would have fitted");
				drop(&larger);
			}
			drop(&before);
		}
		check(check_lpm(&lpm) && check_walk(&lpm, &twin));
		drop(&lpm);
	}

	return true;
}

/* A trie that shares its chunks is changed; what readers see is not. */
static bool test_copy(void)
{
	struct entry entries[64], changed[64];
	struct twin twin = { entries, 0 }, twin2;
	const struct universe *u = &universes[6];
	struct synq_lpm lpm = make(u->bits, 0);
	struct synq_lpm other, image;
	u8 base[16], key[16];
	u32 op, round;

	random_key(base, u->bits);
	for (op = 0; op < 500; op++)
		check(operate(u, &lpm, &twin, base, 1 << 10, 64));
	check(twin.number > 20);

	for (round = 0; round < 100; round++) {
		image = copy(&lpm);
		other = share(&lpm);
		memcpy(changed, entries, sizeof(entries));
		twin2 = (struct twin) { changed, twin.number };
		for (op = 0; op < 500; op++) {
			check(operate(u, &other, &twin2, base, tap_below(2048),
				      64));
			pick_key(u, base, key);
			check(check_lookup(&lpm, &twin, key));
			check(check_lookup(&other, &twin2, key));
		}
		check(is_same(&image, &lpm));
		check(check_lpm(&other) && check_walk(&other, &twin2));
		drop(&image);
		drop(&other);
	}
	drop(&lpm);

	return true;
}

/* Tables of the size and the mix of lengths of the Internet's. */

struct share {
	u8 len;
	u16 permille;
};

static const struct share shares4[] = {
	{ 24, 590 }, { 23, 100 }, { 22, 110 }, { 21, 50 }, { 20, 45 },
	{ 19, 27 }, { 18, 14 }, { 17, 9 }, { 16, 14 }, { 15, 3 }, { 14, 2 },
	{ 13, 1 }, { 12, 1 }, { 11, 1 }, { 10, 1 }, { 9, 1 }, { 8, 1 },
	{ 25, 5 }, { 28, 5 }, { 30, 5 }, { 32, 15 },
};

static const struct share shares6[] = {
	{ 48, 470 }, { 32, 120 }, { 44, 110 }, { 40, 85 }, { 36, 45 },
	{ 29, 30 }, { 46, 40 }, { 47, 20 }, { 42, 20 }, { 33, 10 }, { 34, 8 },
	{ 28, 5 }, { 24, 2 }, { 20, 1 }, { 19, 1 }, { 56, 8 }, { 64, 15 },
	{ 127, 5 }, { 128, 5 },
};

static u8 share_len(const struct share *share)
{
	int left = tap_below(1000);

	while (left >= share->permille)
		left -= share++->permille;

	return share->len;
}

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return memcmp(x->key, y->key, 16) ?: x->len - y->len;
}

static void make_table(struct entry *entry, u32 number, u8 bits)
{
	struct entry keep;
	u32 have = 0, n, i;

	while (have < number) {
		for (n = have; n < number; n++) {
			random_key(entry[n].key, bits);
			/* half of them inside or beside another */
			if (n && tap_below(2))
				memcpy(entry[n].key, entry[tap_below(n)].key,
				       bits == 32 ? 2 : 4);
			if (bits == 128)
				entry[n].key[0] = 0x20 | (entry[n].key[0] & 7);
			entry[n].len = share_len(bits == 32 ? shares4 : shares6);
			clear_from(entry[n].key, entry[n].len);
			entry[n].value = 1 + tap_below(65535);
		}
		qsort(entry, number, sizeof(*entry), compare);
		for (have = 1, n = 1; n < number; n++)
			if (compare(&entry[n], &entry[have - 1]))
				entry[have++] = entry[n];
	}

	for (n = number - 1; n; n--) {
		i = tap_below(n + 1);
		keep = entry[n];
		entry[n] = entry[i];
		entry[i] = keep;
	}
}

static bool check_lookups(const struct synq_lpm *lpm, const struct twin *twin,
			  u32 number)
{
	u32 hits = 0;
	u8 key[16], within[16];
	u32 i, n;

	for (i = 0; i < number; i++) {
		random_key(key, lpm->bits);
		/* a random address; one inside a prefix; one just outside */
		if (i % 4) {
			n = tap_below(twin->number);
			memcpy(within, key, 16);
			clear_from(within, twin->entry[n].len);
			for (u8 j = 0; j < 16; j++)
				key[j] ^= within[j] ^ twin->entry[n].key[j];
			if (i % 4 == 1)
				flip_bit(key, tap_below(twin->entry[n].len));
		}
		check(check_lookup(lpm, twin, key));
		hits += !!synq_lpm_lookup(lpm, key, NULL);
	}
	check(hits > number / 2, "%u lookups find something", hits);

	return true;
}

static bool run_table(u8 bits, u32 number)
{
	struct entry *entry = malloc(number * sizeof(*entry));
	struct twin twin = { entry, number };
	struct synq_lpm lpm = make(bits, 2 * number - 1);
	u32 half = number / 2;
	u32 i;

	if (!entry)
		abort();
	make_table(entry, number, bits);
	for (i = 0; i < number; i++)
		check(!synq_lpm_insert(&lpm, entry[i].key, entry[i].len,
				       entry[i].value, false));
	check(check_lpm(&lpm) && lpm.prefixes == number);
	for (i = 0; i < number; i++)
		check(synq_lpm_get(&lpm, entry[i].key, entry[i].len) ==
		      entry[i].value);
	printf("# IPv%c: %u prefixes, %u nodes\n", bits == 32 ? '4' : '6',
	       number, taken(&lpm));
	check(check_lookups(&lpm, &twin, 800));

	for (i = half; i < number; i++)
		check(!synq_lpm_remove(&lpm, entry[i].key, entry[i].len));
	twin.number = half;
	check(check_lpm(&lpm) && lpm.prefixes == half);
	for (i = 0; i < number; i++)
		check(synq_lpm_get(&lpm, entry[i].key, entry[i].len) ==
		      (i < half ? entry[i].value : 0));
	check(check_lookups(&lpm, &twin, 800));

	for (i = 0; i < half; i++)
		check(!synq_lpm_remove(&lpm, entry[i].key, entry[i].len));
	check(check_lpm(&lpm) && !lpm.root && lpm.spare == taken(&lpm));
	drop(&lpm);
	free(entry);

	return true;
}

static bool test_table4(void)
{
	return run_table(32, 200000);
}

static bool test_table6(void)
{
	return run_table(128, 200000);
}

static bool test_size(void)
{
	check(sizeof(struct synq_lpm_node) == 32);

	return true;
}

static const struct tap_case cases[] = {
	{ "a node is 32 bytes", test_size },
	{ "a trie without memory finds nothing and takes nothing", test_empty },
	{ "what is not allowed is refused and changes nothing", test_refused },
	{ "prefixes that end at the edges of words", test_edges },
	{ "prefixes of every length inside each other", test_nested },
	{ "full chunks refuse and nothing changes", test_full },
	{ "a trie is independent of those it shares chunks with", test_copy },
	{ "random operations agree with a list", test_random },
	{ "200000 prefixes of IPv4 agree with a list", test_table4 },
	{ "200000 prefixes of IPv6 agree with a list", test_table6 },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
