/* Tables of mounts. A rank has none (/etc/mtab is not there), but may bring one along as an input file. */
#ifndef MAYFLY_MNTENT_H
#define MAYFLY_MNTENT_H
#include <stdio.h>
#define MNTTAB "/etc/fstab"
#define MOUNTED "/etc/mtab"
#define MNTTYPE_IGNORE "ignore"
#define MNTTYPE_NFS "nfs"
#define MNTTYPE_SWAP "swap"
#define MNTOPT_DEFAULTS "defaults"
#define MNTOPT_RO "ro"
#define MNTOPT_RW "rw"
#define MNTOPT_SUID "suid"
#define MNTOPT_NOSUID "nosuid"
#define MNTOPT_NOAUTO "noauto"
struct mntent {
  char *mnt_fsname, *mnt_dir, *mnt_type, *mnt_opts;
  int mnt_freq, mnt_passno;
};
#ifdef __cplusplus
extern "C" {
#endif
FILE *setmntent(const char *, const char *);
struct mntent *getmntent(FILE *);
struct mntent *getmntent_r(FILE *__restrict, struct mntent *__restrict, char *__restrict, int);
int addmntent(FILE *__restrict, const struct mntent *__restrict);
int endmntent(FILE *);
char *hasmntopt(const struct mntent *, const char *);
#ifdef __cplusplus
}
#endif
#endif
