/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Feed the files named to a fuzz target: its corpus as a plain test, or one crash. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
	FILE *f = fopen(path, "r");
	long size;
	uint8_t *data;

	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	/* No byte more than the file has, so that a sanitizer sees a read past its end. */
	data = malloc(size ? size : 1);
	if (!data || fread(data, 1, size, f) != (size_t)size) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	fclose(f);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 1;
}

int main(int argc, char *argv[])
{
	int n = 0;

	for (int i = 1; i < argc; i++)
		n += replay(argv[i]);
	printf("%d passed, 0 failed\n", n);
	return n ? EXIT_SUCCESS : EXIT_FAILURE;
}
