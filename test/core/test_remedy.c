/*-------------------------------------------------------------------------
 *
 * test_remedy.c
 *		What is done about a table in which an add finds no room.
 *
 *-------------------------------------------------------------------------
 */
#include "core/cuckoo_remedy.h"

#include "harness.h"

#define NCOLUMNS		64
#define PREFIX_BITS		24

/* Hashes of one pair of buckets, but of different fingerprints. */
static CuckooAddress
crowded_address(const CuckooFilter *table, uint64_t number)
{
	return cuckoo_table_hash_address(table, UINT64_C(0x123456789ABCDEF0) ^
									 number << (56 - PREFIX_BITS));
}

/*
 * held_copies_are_not_lowered
 *		Two values with four copies each fill both buckets of a third one.
 *
 * That is a pocket, and copies are lowered for it, unless a table of more
 * index bits is known to have held them: then this one is doubled up to that.
 */
static void
held_copies_are_not_lowered(void)
{
	for (int index_bits = 2; index_bits <= 10; index_bits += 2)
	{
		CuckooFilling filling = {0, 0, false};
		CuckooFilter table;
		TestHost	host;

		test_host_init(&host);
		test_new_table(&table, &host, NCOLUMNS, index_bits, PREFIX_BITS, 4);
		/* so that it is of its last size */
		table.capacity =
			(uint64_t) (NCOLUMNS * CUCKOO_BUCKET_SLOTS) << (index_bits - 1);
		while (cuckoo_geometry_index_bits(NCOLUMNS, table.capacity) <
			   index_bits)
			table.capacity++;
		for (uint64_t i = 0; i < 8; i++)
			CHECK_STATUS(cuckoo_table_add(&table,
										  crowded_address(&table, i % 2)),
						 CUCKOO_OK);
		CHECK_STATUS(cuckoo_table_add(&table, crowded_address(&table, 2)),
					 CUCKOO_NO_ROOM);

		for (filling.held_bits = 0; filling.held_bits <= index_bits + 2;
			 filling.held_bits++)
		{
			const CuckooRemedy remedy =
				cuckoo_remedy_choose(&table, crowded_address(&table, 2),
									 &filling, &host.host);

			WHERE("index_bits %" PRIu64 ", held_bits %" PRIu64, index_bits,
				  filling.held_bits, 0, 0);
			if (filling.held_bits > index_bits)
				CHECK_EQUAL(remedy.kind, CUCKOO_GROW);
			else
			{
				CHECK_EQUAL(remedy.kind, CUCKOO_LOWER_COPIES);
				CHECK_EQUAL(remedy.max_copies, 3);
			}
		}
		test_release(&table, &host);
		test_host_finish(&host);
	}
}

static const TestCase cases[] = {
	{"held_copies_are_not_lowered", held_copies_are_not_lowered},
};

TEST_MAIN(cases)
