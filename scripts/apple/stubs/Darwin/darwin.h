/* The part of Darwin that the client libraries name, as Apple's headers declare it. */

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef unsigned long size_t;

typedef uint8_t sa_family_t;
typedef uint8_t __u8;
typedef uint32_t socklen_t;
typedef uint16_t mode_t;
typedef uint32_t uid_t;
typedef uint32_t gid_t;
typedef int64_t off_t;
typedef long ssize_t;
typedef long time_t;
typedef int32_t pid_t;
typedef uint16_t in_port_t;
typedef uint32_t in_addr_t;
typedef int32_t dev_t;
typedef uint16_t nlink_t;
typedef uint64_t ino_t;
typedef int32_t blksize_t;
typedef int64_t blkcnt_t;
struct timespec { time_t tv_sec;
long tv_nsec;
};
struct sockaddr { uint8_t sa_len;
sa_family_t sa_family;
char sa_data[14];
};
struct in_addr { in_addr_t s_addr;
};
struct sockaddr_in { uint8_t sin_len;
sa_family_t sin_family;
in_port_t sin_port;
struct in_addr sin_addr;
char sin_zero[8];
};
struct in6_addr { union { uint8_t __u6_addr8[16];
uint16_t __u6_addr16[8];
uint32_t __u6_addr32[4];
} __u6_addr;
};
struct sockaddr_in6 { uint8_t sin6_len;
sa_family_t sin6_family;
in_port_t sin6_port;
uint32_t sin6_flowinfo;
struct in6_addr sin6_addr;
uint32_t sin6_scope_id;
};
struct sockaddr_storage { uint8_t ss_len;
sa_family_t ss_family;
char __ss_pad1[6];
int64_t __ss_align;
char __ss_pad2[112];
};
struct addrinfo { int ai_flags;
int ai_family;
int ai_socktype;
int ai_protocol;
socklen_t ai_addrlen;
char *ai_canonname;
struct sockaddr *ai_addr;
struct addrinfo *ai_next;
};
int getaddrinfo(const char *restrict, const char *restrict, const struct addrinfo *restrict, struct addrinfo **restrict);
void freeaddrinfo(struct addrinfo *);
const char * _Nonnull gai_strerror(int);
#define AF_UNSPEC 0
#define AF_INET 2
#define AF_INET6 30
#define SOCK_STREAM 1
#define AI_ADDRCONFIG 0x00000400
const char *inet_ntop(int, const void *, char *, socklen_t);
int inet_pton(int, const char *, void *);
struct stat { dev_t st_dev;
mode_t st_mode;
nlink_t st_nlink;
ino_t st_ino;
uid_t st_uid;
gid_t st_gid;
dev_t st_rdev;
struct timespec st_atimespec, st_mtimespec, st_ctimespec, st_birthtimespec;
off_t st_size;
blkcnt_t st_blocks;
blksize_t st_blksize;
uint32_t st_flags;
uint32_t st_gen;
int32_t st_lspare;
int64_t st_qspare[2];
};
int stat(const char *, struct stat *);
int fstat(int, struct stat *);
int close(int);
int dup(int);
int fsync(int);
int unlink(const char *);
int rename(const char *, const char *);
ssize_t read(int, void *, size_t);
ssize_t write(int, const void *, size_t);
int fchmod(int, mode_t);
int chmod(const char *, mode_t);
mode_t umask(mode_t);
int open(const char *, int, ...);
int flock(int, int);
uid_t geteuid(void);
gid_t getegid(void);
int getgroups(int, gid_t *);
pid_t getpid(void);
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_NONBLOCK 4
#define O_CREAT 0x200
#define O_EXCL 0x800
#define O_CLOEXEC 0x1000000
#define O_DIRECTORY 0x100000
#define ENOENT 2
#define EPERM 1
#define EINTR 4
#define EACCES 13
#define EEXIST 17
#define ENOTDIR 20
#define EISDIR 21
#define ENFILE 23
#define EMFILE 24
#define ENOSPC 28
#define EROFS 30
#define EPIPE 32
#define EAGAIN 35
#define EADDRNOTAVAIL 49
#define ECONNABORTED 53
#define ECONNRESET 54
#define ETIMEDOUT 60
#define ECONNREFUSED 61
#define EDQUOT 69
#define EIO 5
int *__error(void);
char *strerror(int);
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
void *memchr(const void *, int, size_t);
size_t strlen(const char *);
int memset_s(void *, size_t, int, size_t);
void *malloc(size_t);
void free(void *);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void arc4random_buf(void *, size_t);
typedef enum { CLOCK_REALTIME = 0, CLOCK_MONOTONIC_RAW = 4, CLOCK_MONOTONIC = 6, CLOCK_UPTIME_RAW = 8 } clockid_t;
int clock_gettime(clockid_t, struct timespec *);
int nanosleep(const struct timespec *, struct timespec *);
struct _opaque_pthread_t { long __sig;
char o[8176];
};
typedef struct _opaque_pthread_t *pthread_t;
typedef struct { long __sig;
char o[56];
} pthread_attr_t;
typedef struct { long __sig;
char o[56];
} pthread_mutex_t;
typedef struct { long __sig;
char o[8];
} pthread_mutexattr_t;
typedef struct { long __sig;
char o[40];
} pthread_cond_t;
typedef struct { long __sig;
char o[8];
} pthread_condattr_t;
int pthread_create(pthread_t _Nullable * _Nonnull restrict, const pthread_attr_t * _Nullable restrict, void * _Nullable (* _Nonnull)(void * _Nullable), void * _Nullable restrict);
int pthread_detach(pthread_t _Nonnull);
int pthread_join(pthread_t _Nonnull, void * _Nullable * _Nullable);
int pthread_setname_np(const char * _Nonnull);
pthread_t _Nonnull pthread_self(void);
int pthread_mutex_init(pthread_mutex_t * _Nonnull, const pthread_mutexattr_t * _Nullable);
int pthread_mutex_destroy(pthread_mutex_t * _Nonnull);
int pthread_mutex_lock(pthread_mutex_t * _Nonnull);
int pthread_mutex_unlock(pthread_mutex_t * _Nonnull);
int pthread_cond_init(pthread_cond_t * _Nonnull, const pthread_condattr_t * _Nullable);
int pthread_cond_destroy(pthread_cond_t * _Nonnull);
int pthread_cond_signal(pthread_cond_t * _Nonnull);
int pthread_cond_wait(pthread_cond_t * _Nonnull, pthread_mutex_t * _Nonnull);
int pthread_cond_timedwait(pthread_cond_t * _Nonnull, pthread_mutex_t * _Nonnull, const struct timespec * _Nullable);
int pthread_cond_timedwait_relative_np(pthread_cond_t * _Nonnull, pthread_mutex_t * _Nonnull, const struct timespec * _Nullable);
struct linger { int l_onoff;
int l_linger;
};
#define TCP_NODELAY 1
#define TCP_KEEPALIVE 0x10
#define TCP_KEEPINTVL 0x101
#define TCP_KEEPCNT 0x102
#define TCP_RXT_CONNDROPTIME 0x80
double log2(double);
double pow(double, double);
double exp2(double);
double sqrt(double);
int madvise(void *, size_t, int);
int posix_memalign(void **, size_t, size_t);
int pthread_condattr_init(pthread_condattr_t * _Nonnull);
int pthread_condattr_destroy(pthread_condattr_t * _Nonnull);
